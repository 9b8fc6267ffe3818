"""Whatever removes something stands in a list, with the reason why it is ours or proven dead."""

import re

import pytest
from stored import ROOT

PAGE = ROOT / "docs" / "removals.md"
# Calls and references alike: `storage.delete(path)`, `all.foreach(storage.delete)`.
NAMES = (
    "delete",
    "deleteOne",
    "deleteFile",
    "deleteAll",
    "removeFile",
    "deleteIfExists",
    "deleteOnExit",
    "deleteOthers",
    "deleteRecursively",
    "removeWork",
    "removeMade",
    "removeAny",
    "dropTable",
    "purgeTable",
)
JVM = rf"\b(?:{'|'.join(NAMES)})\b(?=\s*[()])|\"deleteObject\""
REMOVES = {
    ".scala": rf"{JVM}|\b(?:store|folder)\.remove\(",
    ".java": JVM,
    ".py": r"\b(?:rmtree|unlink|rmdir|removedirs|os\.remove|\.delete)\b(?=\s*[(),])",
}
SOURCES = ("jvm/*/src/main/**/*.scala", "jvm/*/src/main/**/*.java", "python/hudiidx/**/*.py")


def removals() -> dict[str, int]:
    """By file: how often it names something that removes, comments left out."""
    found = {}
    for pattern in SOURCES:
        for file in ROOT.glob(pattern):
            code = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.DOTALL)
            lines = [re.sub(r"(^|\s)(//|#).*", "", line) for line in code.splitlines()]
            count = sum(len(re.findall(REMOVES[file.suffix], line)) for line in lines)
            if count:
                found[file.name] = found.get(file.name, 0) + count
    return found


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip().strip("|").split(" | ")] for line in lines]


def test_the_list_has_every_call_that_removes_something() -> None:
    listed = {row[0].strip("`"): int(row[1]) for row in rows()}
    assert listed == removals()


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0].strip("`"))
def test_every_call_has_a_reason_and_a_test_that_is_there(row: list[str]) -> None:
    _, _, what, why, tests = row
    assert what and why
    named = re.findall(r"`([\w.]+)` \"([^\"]+)\"", tests)
    assert named or tests == "-", tests
    for suite, name in named:
        if suite.endswith(".py"):
            files = [f for d in ("tests", "integration") for f in (ROOT / d).glob(suite)]
        else:
            files = [f for f in (ROOT / "jvm").glob("*/src/test/scala/**/*.scala") if f.stem == suite]
        assert any(name in f.read_text() for f in files), f"{suite} {name}"
