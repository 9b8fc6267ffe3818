"""Regular expressions of the Python side: others' names and texts, of any length, go through them."""

import ast
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hudiidx._text import _KEY, masked, shown

ROOT = Path(__file__).parents[1]
_MAKES = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}

# By file: how each is used, and a text that it takes.
KNOWN = {
    ("_columns.py", r"\s*[a-z][a-z0-9_]*\s*\(.*\)\s*"): ("fullmatch", " bloom (a, b) "),
    ("_columns.py", r"[()+\-*/%<>=!|&^~'\"\s]"): ("search", "a b"),
    ("_exports.py", r"VECTOR\((\d+)(?:, (\w+))?\)"): ("fullmatch", "VECTOR(4, DOUBLE)"),
    ("_raised.py", r"\b(hudiidx\.[A-Za-z]+): ([^\n]*)"): ("findall", "Lost: hudiidx.DamagedIndex: /t: x"),
    ("page.py", r"\{\{(\w+)\}\}"): ("findall", "a {{name}} b"),
    ("doctor.py", r'version "(\d+)(?:\.(\d+))?'): ("search", 'openjdk version "17.0"'),
    ("_text.py", r"([ \t\n\x0b\f\r]+)"): ("findall", "a b"),
    (
        "_text.py",
        r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]",
    ): ("search", "a\tb"),
    ("_text.py", r"[/:@?#]"): ("search", "user:word"),
    ("_text.py", r"[0-9]+(?:/|\Z)"): ("match", "8020/a"),
    ("_text.py", r"(?s)[0-9]*[^0-9A-Za-z]?\Z"): ("match", "80:"),
    ("_text.py", _KEY.pattern): ("search", "?sig=a"),
    ("plain.py", r"(?:ClassNotFoundException|NoClassDefFoundError): ([\w./$]+)"): (
        "findall",
        "java.lang.NoClassDefFoundError: org/a/B",
    ),
    ("_spark.py", r"spark-core_[\d.]+-(\d+\.\d+)\.[^/]*\.jar"): ("search", "spark-core_2.12-3.5.1.jar"),
}


def _made() -> Iterator[tuple[str, str]]:
    for file in sorted(ROOT.glob("python/hudiidx/**/*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and node.func.attr in _MAKES
            ):
                pattern = node.args[0]
                assert isinstance(pattern, ast.Constant), f"{file}: a pattern that is not written out"
                yield file.name, pattern.value


def test_every_pattern_in_the_sources_has_an_entry_here_and_every_entry_stands_there() -> None:
    assert set(_made()) == KNOWN.keys()


@pytest.mark.parametrize("place", KNOWN, ids=lambda p: f"{p[0]} {p[1]}")
def test_a_megabyte_goes_through_a_pattern(place: tuple[str, str]) -> None:
    """In a process of its own with two minutes; the square of a million steps would take hours."""
    use, sample = KNOWN[place]
    assert getattr(re.compile(place[1], re.DOTALL), use)(sample)
    code = """
import re, sys
use, pattern, sample = sys.argv[1:]
made = getattr(re.compile(pattern, re.DOTALL), use)
for at in range(len(sample) + 1):
    for n in (1, 2, 3):
        bit = sample[at : at + n] or "a"
        made(sample[:at] + bit * ((1 << 20) // len(bit)) + sample[at:] + "!")
"""
    subprocess.run([sys.executable, "-c", code, use, place[1], sample], timeout=120, check=True)


def test_a_megabyte_of_paths_is_masked() -> None:
    """As `PatternsSuite` in Scala: by the square of the length it would take hours."""
    code = """
from hudiidx._text import masked
for bit in ("a", "a://", "a://b:", "a://b:c ", "a://b:c@", ":", "1", " ", "://", "=", "&sig=", "a="):
    for behind in ("", "@", " @", "\\n", "="):
        masked(bit * ((1 << 20) // len(bit)) + behind)
"""
    subprocess.run([sys.executable, "-c", code], timeout=120, check=True, cwd=ROOT / "python")


def test_masking_is_that_of_the_scala_side() -> None:
    """The cases of `SecretsSuite`; what is masked stays so, whatever is told of it again."""
    cases = json.loads((ROOT / "tests/fixtures/masked-texts.json").read_text(encoding="utf-8"))
    for text, told in {**cases["masked"], **{text: text for text in cases["kept"]}}.items():
        assert masked(text) == told
    for name in cases["in_queries"]:
        assert masked(f"x {name}=1 y?{name}=2&{name.upper()}=3;{name}=4#{name}=5") == (
            f"x {name}=1 y?{name}=***&{name.upper()}=***;{name}=***#{name}=***"
        )
    for name in cases["anywhere"]:
        assert masked(f"x{name}=1 {name}=2,{name.upper()}=3") == f"x{name}=1 {name}=***,{name.upper()}=***"
    assert (
        len(re.findall(r"[a-z][\w-]{2,}", _KEY.pattern)) == len(cases["in_queries"] + cases["anywhere"]) + 1
    )
    drawn = random.Random(7)
    for _ in range(20000):
        text = "".join(drawn.choice(cases["bits"]) for _ in range(drawn.randrange(14)))
        assert masked(masked(text)) == masked(text) and shown(shown(text)) == shown(text), text
