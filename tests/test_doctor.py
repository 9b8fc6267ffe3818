"""What `hudiidx doctor` finds: here, of tables, and of what stands in their way."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hudiidx.cli import doctor

COMMAND = Path(sys.executable).with_name("hudiidx")


def findings(*arguments: object, code: int = 0) -> dict[str, dict[str, Any]]:
    """What the command finds, by check."""
    asked = [str(COMMAND), "doctor", *map(str, arguments), "--json"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return {f["check"]: f for f in json.loads(done.stdout)["findings"]}


def test_this_machine_will_do() -> None:
    found = findings()
    assert [*found] == ["hudiidx", "Java", "Spark"]
    assert all(f["status"] == "ok" and not f["advice"] for f in found.values())


def test_a_table_without_an_index_is_looked_at_and_left_as_it_is(cow: Path) -> None:
    before = sorted(cow.rglob("*"))
    found = findings(cow)
    assert found["table"]["found"].endswith("commits") and "version 9" in found["table"]["found"]
    assert (found["index"]["status"], found["index"]["found"]) == ("warning", "ABSENT")
    assert found["index"]["advice"] == f"run `hudiidx create {cow}`"
    assert {found[c]["status"] for c in ("index folder", "store", "clock")} == {"ok"}
    assert sorted(cow.rglob("*")) == before


def test_what_is_no_table_fails_by_name(tmp_path: Path) -> None:
    found = findings(tmp_path, code=5)
    assert found["table"]["status"] == "failed" and str(tmp_path) in found["table"]["found"]
    assert "store" not in found


def test_a_folder_that_takes_no_files_fails_with_what_to_do(cow: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, where the index is to be")
    found = findings(cow, "--index-path", tmp_path / "taken", code=5)["index folder"]
    assert found["status"] == "failed" and "--index-path" in found["advice"]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ('openjdk version "17.0.15" 2025-04-15', "ok"),
        ('java version "1.8.0_402"', "failed"),
        ('openjdk version "11.0.2"', "failed"),
        ('openjdk version "21"', "warning"),
        ("no version", "failed"),
    ],
)
def test_java_is_judged_by_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, status: str
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert doctor._java()["status"] == status


def test_another_spark_and_lost_jars_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert doctor._spark()["status"] == "warning"
    monkeypatch.setenv("HUDIIDX_CLASSPATH", f"{tmp_path}/*:{tmp_path}/gone.jar")
    assert [f["found"] for f in doctor._stores()] == [
        f"HUDIIDX_CLASSPATH names {tmp_path}/gone.jar, which is not there"
    ]
