"""Finds words in pages and messages that the glossary says not to use.

Usage: check_words.py [FILE...], by default README.md, docs/ and the sources of jvm/ and python/

The right column of the table "Say and do not say" in docs/glossary.md has the phrases, commas between. One
in backquotes is a part of names in Scala, as `Beside` in `temporaryBeside`; the others are looked for in
prose and in string literals, across line breaks, in any case of letters. Not looked at: code in pages, cited
names of tests, addresses of links, comments, and CHANGELOG.md, which tells what messages were. A line is
printed for each use; the exit code is 1 if there is one.
"""

import io
import re
import sys
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
TITLE = "## Say and do not say\n"
FILES = ("README.md", "docs/*.md", "jvm/*/src/main/**/*.scala", "python/hudiidx/**/*.py")
# Not prose: blocks of code and of output, code in a line, names of tests after their suite, links.
_QUOTED = re.compile(r'^```.*?^```$|`[^`\n]+`(?:,? "[^"\n]*")*|\]\([^)\n]*\)', re.M | re.S)
_SCALA = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|'(?:\\.|[^'\\\n])'"""
    r'''|"""(?P<raw>.*?)"""(?!")'''
    r'''|"(?P<text>(?:\\.|\$\{(?:[^{}"\n]|"(?:\\.|[^"\\\n])*"|\{[^{}\n]*\})*\}|[^"\\\n])*)"''',
    re.S,
)
# What may stand between two parts of one text.
_JOINT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/|[\s+]", re.S)


@dataclass(frozen=True)
class Words:
    """What is not said: phrases of prose, and parts of names."""

    phrases: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, page: str) -> "Words":
        """Those of the glossary; ValueError if its table is not there or says nothing."""
        rows = [line for line in _table(page).splitlines() if line.startswith("| ")][1:]
        entries = [e.strip() for row in rows for e in row.strip().strip("|").split("|")[1].split(",")]
        if not entries or "" in entries:
            raise ValueError(f"{GLOSSARY.name}: its table has no phrases, or an empty one")
        names = tuple(e.strip("`") for e in entries if e.startswith("`"))
        return cls(tuple(e for e in entries if not e.startswith("`")), names)

    def in_prose(self) -> re.Pattern[str]:
        """Any of the phrases, in whatever lines."""
        spaced = (r"\s+".join(map(re.escape, p.split())) for p in self.phrases)
        return re.compile(rf"\b(?:{'|'.join(spaced)})\b", re.I)

    def in_code(self) -> re.Pattern[str] | None:
        """Any of the parts of names: a whole word of a name in camel case."""
        return re.compile(rf"\w*(?:{'|'.join(self.names)})(?![a-z])\w*") if self.names else None


def _table(page: str) -> str:
    if TITLE not in page:
        raise ValueError(f"{GLOSSARY.name}: no heading '{TITLE.strip()}'")
    return page.split(TITLE)[1]


def prose(text: str) -> str:
    """A page of Markdown with all that is no prose blanked."""
    return _QUOTED.sub(lambda m: _blank(m.group()), text)


def scala_texts(source: str) -> str:
    """A Scala source with all but its string literals blanked; those joined by + follow one another."""
    kept = []
    end = 0
    for found in _SCALA.finditer(source):
        group = "raw" if found["raw"] is not None else "text"
        if found[group] is not None:
            start, stop = found.span(group)
            kept.append(_between(source[end:start].replace('"', " ")) + source[start:stop])
            end = stop
    return "".join(kept) + _between(source[end:].replace('"', " "))


def scala_code(source: str) -> str:
    """A Scala source with its comments and string literals blanked."""
    return _SCALA.sub(lambda m: _blank(m.group()), source)


def python_texts(source: str) -> str:
    """A Python source with all but its string literals blanked, docstrings among them."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    kept = []
    end = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if tokenize.tok_name[token.type] in ("STRING", "FSTRING_MIDDLE"):
            start, stop = (starts[line - 1] + column for line, column in (token.start, token.end))
            inner = re.sub(r"^[A-Za-z]*[\"']+|[\"']+$", lambda m: " " * len(m.group()), source[start:stop])
            kept.append(_between(source[end:start]) + inner)
            end = stop
    return "".join(kept) + _between(source[end:])


def _between(code: str) -> str:
    """What stands between two texts: space if they are parts of one, else what no phrase goes across."""
    return re.sub(r"[^\n]", " ", code) if not _JOINT.sub("", code) else _blank(code)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", "\0", text)


def uses(file: Path, words: Words) -> list[str]:
    """``file:line: phrase`` for each that a file has."""
    text = file.read_text(encoding="utf-8")
    found: Iterable[re.Match[str]]
    if file.suffix == ".md":
        page = text.split(TITLE)[0] if file == GLOSSARY else text
        found = words.in_prose().finditer(prose(page))
    elif file.suffix == ".scala":
        named = words.in_code()
        found = [
            *words.in_prose().finditer(scala_texts(text)),
            *(named.finditer(scala_code(text)) if named else ()),
        ]
    else:
        found = words.in_prose().finditer(python_texts(text))
    where = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
    lines = sorted((text.count("\n", 0, m.start()) + 1, " ".join(m.group().split())) for m in found)
    return [f"{where}:{line}: {phrase}" for line, phrase in lines]


def main(arguments: list[str]) -> int:
    """Looks at the files, or at all, and says what it found."""
    words = Words.of(GLOSSARY.read_text(encoding="utf-8"))
    files = [Path(a).resolve() for a in arguments] or [f for g in FILES for f in sorted(ROOT.glob(g))]
    found = [use for file in files for use in uses(file, words)]
    print(*found, f"{len(found)} uses of what docs/glossary.md says not to say: {len(files)} files", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
