"""What people are told to run is what they run, whatever names hold: a shell reads it here."""

import ast
import itertools
import os
import re
import subprocess
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from typer.main import get_command

from hudiidx import _columns
from hudiidx._shell import command, line, word
from hudiidx._text import shown
from hudiidx.cli.main import app

ROOT = Path(__file__).parents[1]
BITS = [
    "a",
    "fare",
    " ",
    "\t",
    "\n",
    "'",
    '"',
    "`",
    "\\",
    "$(id)",
    "${x}",
    ";",
    "#",
    ",",
    "-",
    "--",
    "!",
    "*",
    "~",
    "=ls",
]
BITS += [
    "record",
    "\x1b[31m",
    "\x07",
    "\x01",
    "\u202e",
    "\u2028",
    "ü",
    "日本",
    "\U0001f600",
    "\\n",
    "$'",
    "|",
    "&",
    "(",
    ")",
]
COMMANDS = [*get_command(app).commands]
EXAMPLES = {"_A_LOG"}  # of help
NAMES = (
    st.lists(st.sampled_from(BITS) | st.text(max_size=2), min_size=1, max_size=5).map("".join).filter(bool)
)


def read(lines: list[str], locale: str) -> list[list[str]]:
    """The words of command lines as bash has them."""
    script = "\n".join(f"printf '%s\\0' {text}; printf '<end>\\0'" for text in lines)
    env = {**os.environ, "LC_ALL": locale}
    done = subprocess.run(["bash", "--norc"], input=script.encode(), capture_output=True, check=True, env=env)
    return [words.split("\0") for words in done.stdout.decode().split("\0<end>\0")[:-1]]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(NAMES, min_size=10, max_size=30))
@example([*BITS, "".join(BITS)])
def test_a_shell_reads_each_word_as_it_was_meant_in_any_locale(names: list[str]) -> None:
    written = [n for n in names if word(n) is not None]
    for n in {*names} - {*written}:  # what is no text of a process, or would be told as a password
        assert "\0" in n or re.search("[\ud800-\udfff]", n) or "://" in n
    lines = [line("add-index", "/data/t", n, index_path=n) or "" for n in written]
    assert all(shown(text) == text for text in lines)
    for locale in ("C", "C.UTF-8"):
        for n, words in zip(written, read(lines, locale), strict=True):
            plain = ["hudiidx", "add-index", "/data/t", n, "--index-path", n]
            dashed = ["hudiidx", "add-index", f"--index-path={n}", "--", "/data/t", n]
            assert words == (dashed if n.startswith("-") else plain)


def test_the_command_itself_reads_them_as_names() -> None:
    """Names that begin with a dash are no options, in its own parser."""
    group = get_command(app)
    for table, column, path in (
        ("-t", "fare", "/i"),
        ("/t", "--kind", "-i"),
        ("/t", "x", "--json"),
        ("/t", "-x", None),
    ):
        words = read([line("add-index", table, column, index_path=path) or ""], "C")[0]
        context = group.commands["add-index"].make_context("add-index", words[2:])
        assert (context.params["table"], list(context.params["what"])) == (table, [column])
        assert context.params["index_path"] == path


def test_columns_in_backquotes_stay_columns() -> None:
    """As advice has them: neither another part of the index, nor an expression, nor several."""
    for name in (
        "`record`",
        "`logs`",
        "`*`",
        "`a,b`",
        "`my col`",
        "`a-b`.c",
        "`f(x)`",
        "`a``b`",
        "`x;y`",
        "`a\nb`",
    ):
        assert _columns.part(name, None) is None
        assert _columns.indexes(name, None, {}) == f"range({name})"
        assert _columns.indexes([name], "bloom", {}) == f"bloom({name})"


def test_plain_words_stay_as_they_are() -> None:
    assert command("create", "/data/trips") == "`hudiidx create /data/trips`"
    assert command("create", "it's", index_path="/i x") == "`hudiidx create 'it'\\''s' --index-path '/i x'`"
    assert command("update", "a\0b") == (
        "`hudiidx update` (no command line can hold 'a\\u0000b': call hudiidx from Python)"
    )


def test_no_text_of_ours_has_a_command_with_names_in_it_but_by_the_place_that_quotes_them() -> None:
    begins = re.compile(rf"hudiidx (?:{'|'.join(COMMANDS)})\b[^`]*$")
    filled = re.compile(rf"hudiidx (?:{'|'.join(COMMANDS)})\b[^`]*%s")
    found = []
    for file in sorted(ROOT.glob("python/hudiidx/**/*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for text, after in itertools.pairwise(node.values) if isinstance(node, ast.JoinedStr) else ():
                of_ours = isinstance(after, ast.FormattedValue) and ast.unparse(after.value) in EXAMPLES
                if begins.search(str(getattr(text, "value", ""))) and not of_ours:
                    found.append(f"{file.name}:{node.lineno}")
            if isinstance(node, ast.Constant) and filled.search(str(node.value)):
                found.append(f"{file.name}:{node.lineno}")
    assert found == []
