"""Every option of every command with what it cannot be: a line that says so, and nothing done."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import stored
from pyspark.sql import SparkSession
from walked import Told, of_the_command_line, runner

from hudiidx import HudiIndex

# By the parser's type of an option.
NUMBERS = {
    "int": ("", "x", "1.5", "-1", "99999999999999999999"),
    "float": ("", "x", "nan", "inf", "-1"),
}
# As many workers as there are tables.
ALLOWED = {("--workers", "99999999999999999999")}
# What a command needs beside its table for the option to be looked at.
BESIDE = {
    "add-index": ["rider", "--kind", "bloom"],
    "drop-index": ["fare"],
    "log find": ["k"],
    "lookup": ["k"],
    "prune": ["true"],
    "tag": ["KEYS", "--key", "id", "-o", "OUT/tagged"],
    "watch": ["--once"],
    "drop": ["--yes"],
    "create": ["--bloom", "rider", "--record", "global"],
}
OF_RECORD = {"--window-days", "--file-groups", "--mode"}


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = stored.load("v9-cow-part").unpack(tmp_path_factory.mktemp("wrong"))
    (made.parent / "keys.csv").write_text("id\na\n")
    HudiIndex(spark, made).create(record="global")
    return made


@pytest.fixture
def run(
    spark: SparkSession, table: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Told]:
    monkeypatch.chdir(table.parent)
    return runner(spark, monkeypatch, capfd)


def calls(table: Path, by_type: dict[str, tuple[str, ...]]) -> Iterator[tuple[list[str], str, str]]:
    """Each call, its option and the value, of the options of some types."""
    for name, command in of_the_command_line().items():
        if name == "jar":
            continue
        target = table / next(f.name for f in table.glob("*/*.parquet")) if name.startswith("log ") else table
        beside = [
            b.replace("KEYS", str(table.parent / "keys.csv")).replace("OUT", str(table.parent))
            for b in BESIDE.get(name, [])
        ]
        for option in command.params:
            flag = option.opts[-1]
            if not flag.startswith("-") or option.is_flag:
                continue
            kind = option.type.name.removesuffix(" range")
            given = ["record"] if name == "add-index" and flag in OF_RECORD else beside
            for value in by_type.get(kind, ()):
                yield [*name.split(), str(target), *given, f"{flag}={value}"], flag, value


def test_numbers_that_are_none_or_out_of_range_are_wrong_usage(run: Callable[..., Told], table: Path) -> None:
    before = versions(table)
    numbers = list(calls(table, NUMBERS))
    wrong = []
    for arguments, flag, value in numbers:
        told = run(*arguments)
        codes = {0, 1} if (flag, value) in ALLOWED else {2}
        if told.code not in codes or not in_a_line(told):
            wrong.append((arguments[0], flag, value, told))
    assert not wrong, "\n".join(map(str, wrong))
    assert len(numbers) > 60
    assert versions(table) == before


def test_empty_texts_end_no_command_in_a_crash(run: Callable[..., Told], table: Path) -> None:
    texts = list(calls(table, {"str": ("",), "path": ("",)}))
    wrong = []
    for arguments, flag, _ in texts:
        told = run(*arguments)
        place = flag in ("--index-path", "--output")
        if told.code not in ((2,) if place else (0, 1, 2, 3, 4)) or not in_a_line(told):
            wrong.append((arguments[0], flag, told))
    assert not wrong, "\n".join(map(str, wrong))
    assert len(texts) > 60


def versions(table: Path) -> list[str]:
    return sorted(f.name for f in (table / ".hoodie" / "hudiidx" / "versions").iterdir())


def in_a_line(told: Told) -> bool:
    """An error is one line on stderr, or in the frame of wrong usage; of a watch it is a line on stdout."""
    if "Traceback" in told.err:
        return False
    lines = [line for line in told.err.splitlines() if line.startswith("hudiidx: ")]
    errors = [line for line in lines if "warning: " not in line]
    framed = "Usage: " in told.err
    return told.code < 2 or framed or len(errors) == 1 or ("failed" in told.out and not errors)


def test_missing_arguments_are_wrong_usage(run: Callable[..., Told], table: Path) -> None:
    for name, command in of_the_command_line().items():
        needed = [p for p in command.params if p.required]
        if needed:
            told = run(*name.split())
            assert told.code == 2 and "Missing" in told.err, (name, told)
        assert run(*name.split(), "--no-such-option").code == 2
    assert run("no-such-command").code == 2
