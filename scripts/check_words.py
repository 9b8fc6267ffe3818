"""Finds words in pages, messages, comments and names that the glossary says not to use.

Usage: check_words.py [FILE...], by default all pages and all sources

The right column of the table "Say and do not say" in docs/glossary.md has the phrases, commas between. One
in backquotes is a part of identifiers, as `Beside` in `temporaryBeside`. One that ends with … stands for any
word that follows, and is looked for in string literals of the product alone, where it is not part of "there
is". All others are looked for in the prose of pages, in string literals, in comments, and in the names of
Python's tests, across line breaks, in any case of letters. Not looked at: code in pages and comments, names
of tests that a page cites, addresses of links, and what this script and its tests say. A line is printed for
each use; the exit code is 1 if there is one.
"""

import functools
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
TITLE = "## Say and do not say\n"
PAGES = ("*.md", "docs/*.md", "benchmarks/*.md")
JVM = ("jvm/*/src/main", "jvm/*/src/test", "benchmarks/src", "integration")
PYTHON = ("python", "tests", "integration", "scripts", "examples", "benchmarks", "lines", ".")
FILES = (
    *PAGES,
    *(f"{folder}/**/*.{kind}" for folder in JVM for kind in ("scala", "java")),
    *(f"{folder}/*.py" if folder == "." else f"{folder}/**/*.py" for folder in PYTHON),
)
# They cite what is not said.
_CITING = ("check_words.py", "test_check_words.py")
# Tests that this page cites keep their names.
RELIABILITY = ROOT / "docs" / "reliability.md"
_MADE = ("target", "build", "node_modules", "site-packages")
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


# What stands before the words of a line in a comment of several lines.
_LEADER = re.compile(r"(?:^|(?<=\n))[ \t]*(?:\*(?!/)|//|#)|/\*+|\*/|//+|#+")


@dataclass(frozen=True)
class Words:
    """What is not said: phrases of prose, parts of names, and how messages do not go on."""

    phrases: tuple[str, ...]
    names: tuple[str, ...]
    openings: tuple[str, ...] = ()

    @classmethod
    def of(cls, page: str) -> "Words":
        """Those of the glossary; ValueError if its table is not there or says nothing."""
        rows = [line for line in _table(page).splitlines() if line.startswith("| ")][1:]
        entries = [e.strip() for row in rows for e in row.strip().strip("|").split("|")[1].split(",")]
        if not entries or "" in entries:
            raise ValueError(f"{GLOSSARY.name}: its table has no phrases, or an empty one")
        names = tuple(e.strip("`") for e in entries if e.startswith("`"))
        openings = tuple(e.removesuffix(" …") for e in entries if e.endswith(" …"))
        return cls(
            tuple(e for e in entries if not e.startswith("`") and not e.endswith(" …")), names, openings
        )

    def in_prose(self) -> re.Pattern[str]:
        """Any of the phrases, in whatever lines."""
        spaced = (r"\s+".join(map(re.escape, p.split())) for p in self.phrases)
        return re.compile(rf"\b(?:{'|'.join(spaced)})\b", re.I)

    def in_messages(self) -> re.Pattern[str]:
        """Any of the openings with the word that follows, but "there is no index" and "is no longer"."""
        spaced = "|".join(r"\s+".join(map(re.escape, o.split())) for o in self.openings)
        return re.compile(
            rf"(?<!there )\b(?:{spaced})\s+(?!longer|more\b|other\b)\w+" if spaced else r"(?!)", re.I
        )

    def in_code(self) -> re.Pattern[str]:
        """Any of the parts of names: a whole word of a name in camel case."""
        names = "|".join(map(re.escape, self.names))
        return re.compile(rf"\w*(?:{names})(?![a-z])\w*" if names else r"(?!)")


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


def scala_comments(source: str) -> str:
    """A Scala or Java source with all but its comments blanked."""
    return _comments(source, (f.span() for f in _SCALA.finditer(source) if f["comment"] is not None))


def _comments(source: str, spans: Iterable[tuple[int, int]]) -> str:
    """Comments of several lines follow one another; code in them is blanked."""
    kept = []
    end = 0
    for start, stop in spans:
        code = source[end:start]
        words = _LEADER.sub(lambda m: " " * len(m.group()), source[start:stop])
        kept.append((_blank(code) if code.strip() else code) + words)
        end = stop
    return prose("".join(kept) + _blank(source[end:]))


def python_texts(source: str) -> str:
    """A Python source with all but its string literals blanked, docstrings among them."""
    kept = []
    end = 0
    for name, start, stop in _tokens(source):
        if name in ("STRING", "FSTRING_MIDDLE"):
            inner = re.sub(r"^[A-Za-z]*[\"']+|[\"']+$", lambda m: " " * len(m.group()), source[start:stop])
            kept.append(_between(source[end:start]) + inner)
            end = stop
    return "".join(kept) + _between(source[end:])


def python_comments(source: str) -> str:
    """A Python source with all but its comments blanked."""
    return _comments(source, ((a, b) for name, a, b in _tokens(source) if name == "COMMENT"))


def python_names(source: str) -> str:
    """A Python source with all but its identifiers blanked."""
    kept = []
    end = 0
    for name, start, stop in _tokens(source):
        if name == "NAME":
            kept.append(_blank(source[end:start]) + source[start:stop])
            end = stop
    return "".join(kept) + _blank(source[end:])


def _tokens(source: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each token of a Python source."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        start, stop = (starts[line - 1] + column for line, column in (token.start, token.end))
        yield tokenize.tok_name[token.type], start, stop


def _between(code: str) -> str:
    """What stands between two texts: space if they are parts of one, else what no phrase goes across."""
    return re.sub(r"[^\n]", " ", code) if not _JOINT.sub("", code) else _blank(code)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", "\0", text)


def uses(file: Path, words: Words) -> list[str]:
    """``file:line: phrase`` for each that a file has."""
    text = file.read_text(encoding="utf-8")
    where = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
    said = words.in_prose()
    found: list[re.Match[str]]
    if file.suffix == ".md":
        found = [*said.finditer(prose(text.split(TITLE)[0] if file == GLOSSARY else text))]
    elif file.suffix == ".py":
        names = python_names(text)
        found = _in_source(words, where, python_texts(text), python_comments(text), names)
        found += said.finditer(_test_names(names, _cited()))
    else:
        texts = scala_texts(_without_cited(text, _cited()) if "test" in where.parts else text)
        found = _in_source(words, where, texts, scala_comments(text), scala_code(text))
    lines = sorted((text.count("\n", 0, m.start()) + 1, " ".join(m.group().split())) for m in found)
    return [f"{where}:{line}: {phrase}" for line, phrase in lines]


def _in_source(words: Words, file: Path, texts: str, comments: str, code: str) -> list[re.Match[str]]:
    said = words.in_prose()
    found = [*said.finditer(texts), *said.finditer(comments), *words.in_code().finditer(code)]
    is_product = file.parts[0] == "python" or (file.parts[0] == "jvm" and "main" in file.parts)
    return [*found, *(words.in_messages().finditer(texts) if is_product else ())]


def _test_names(names: str, cited: str) -> str:
    """The words of the names of Python's tests, but of those that a page cites."""

    def words(name: str) -> str:
        is_test = name.startswith("test_") and f'"{name}"' not in cited
        return name.replace("_", " ") if is_test else _blank(name)

    return re.sub(r"\w+", lambda m: words(m.group()), names)


def _without_cited(source: str, cited: str) -> str:
    """A suite without the names of tests that a page cites."""
    return _SCALA.sub(
        lambda m: _blank(m.group()) if m["text"] and f'"{m["text"]}"' in cited else m.group(), source
    )


@functools.cache
def _cited() -> str:
    return RELIABILITY.read_text(encoding="utf-8")


def all_files() -> list[Path]:
    """Pages and sources, each once; nothing that a build or an environment made."""
    found = {f: None for g in FILES for f in sorted(ROOT.glob(g)) if f.name not in _CITING}
    return [f for f in found if not any(p in _MADE or p.startswith(".") for p in f.relative_to(ROOT).parts)]


def main(arguments: list[str]) -> int:
    """Looks at the files, or at all, and says what it found."""
    words = Words.of(GLOSSARY.read_text(encoding="utf-8"))
    files = [Path(a).resolve() for a in arguments] or all_files()
    found = [use for file in files for use in uses(file, words)]
    print(*found, f"{len(found)} uses of what docs/glossary.md says not to say: {len(files)} files", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
