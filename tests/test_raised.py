"""Whatever call of Spark's fails in hudiidx, Python gets our exception: by `import hudiidx` alone."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hudiidx import DamagedTable, InvalidOption, WriteConflict, WriteFailed, WriteUnknown
from hudiidx._raised import of_connect, of_java
from hudiidx.errors import exit_code
from hudiidx.session import jar_path

SCRIPT = Path(__file__).with_name("raised.py")


def raised(when: str, url: str, folder: Path, **environment: str) -> dict[str, tuple[str, str]]:
    """What each call raises: its class and what it says."""
    command = [sys.executable, SCRIPT, when, url, jar_path(), folder]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


def check(found: dict[str, tuple[str, str]], table: Path) -> None:
    """Each by its name, in a line without a stack; what is Spark's stays Spark's."""
    expected = dict.fromkeys(("save", "insert", "update", "delete", "merge", "stream"), "InvalidOption")
    expected |= {"read": "NotAHudiTable", "task": "DamagedTable"}
    expected |= dict.fromkeys(("refused", "refused statement"), "WriteFailed")
    kinds = {name: kind for name, (kind, _) in found.items() if name != "spark"}
    assert kinds == {name: f"hudiidx.errors.{kind}" for name, kind in expected.items()}, found
    assert found["spark"][0].startswith("pyspark.errors.exceptions.")
    for name, kind in expected.items():
        said = found[name][1]
        assert "\n" not in said and "\tat " not in said
        assert ("hudiidx.write.global" in said) == (kind == "InvalidOption"), said
    for name in ("refused", "refused statement"):
        assert str(table) in found[name][1] and "nothing of it counts" in found[name][1]
    assert str(table) in found["task"][1] and str(table.parent) in found["read"][1]


@pytest.mark.spark
def test_a_call_of_sparks_that_fails_in_hudiidx_raises_our_exception(tmp_path: Path) -> None:
    check(raised("after", "local[2]", tmp_path), tmp_path / "t")


class _Thrown:
    """A Java exception as py4j shows it."""

    def __init__(self, name: str, message: str, cause: "_Thrown | None" = None) -> None:
        self._name, self._message, self._cause = name, message, cause

    def getClass(self) -> "_Thrown":
        return self

    def getName(self) -> str:
        return self._name

    def getMessage(self) -> str:
        return self._message

    def getCause(self) -> "_Thrown | None":
        return self._cause


def test_a_full_disk_is_our_exception_by_which_a_write_is_known_to_count_or_not() -> None:
    full = _Thrown("java.io.IOException", "/t/p/f: No space left on device")
    for kind in (WriteFailed, WriteUnknown):
        ours = of_java(_Thrown("x.Wrapper", "", _Thrown(f"hudiidx.{kind.__name__}", "/t: the write", full)))
        assert type(ours) is kind and str(ours) == "/t: the write" and exit_code(ours) == 3
    assert not issubclass(WriteUnknown, WriteFailed), "who writes again what failed must not write this again"
    assert of_java(full) is None


def _told(*classes: str) -> Any:
    return SimpleNamespace(metadata={"classes": json.dumps(classes)})


def test_what_a_server_of_spark_connect_tells_is_our_exception() -> None:
    of_task = _told("org.apache.spark.SparkException", "java.lang.Exception")
    ours = of_connect(_told("hudiidx.InvalidOption", "hudiidx.HudiIdxException"), "k: is wrong")
    assert isinstance(ours, InvalidOption) and str(ours) == "k: is wrong"
    told = "Lost task 0.0 (executor 1): hudiidx.DamagedTable: /t/f: is cut short\n\tat hudiidx.X(X.scala)"
    ours = of_connect(of_task, told)
    assert isinstance(ours, DamagedTable) and str(ours) == "/t/f: is cut short"
    chain = SimpleNamespace(
        errors=[
            SimpleNamespace(error_type_hierarchy=["org.apache.spark.SparkException"], message="Job aborted"),
            SimpleNamespace(error_type_hierarchy=["hudiidx.WriteConflict"], message="/t: another was first"),
        ]
    )
    ours = of_connect(of_task, "Job aborted", chain, False)
    assert isinstance(ours, WriteConflict) and str(ours) == "/t: another was first"
    for other in (
        _told("java.lang.IllegalStateException"),
        _told("InvalidOption"),
        SimpleNamespace(metadata={}),
    ):
        assert of_connect(other, "hudiidx.Unknown: x, and no other") is None


def test_import_hudiidx_imports_no_pyspark_and_stands_before_it_once() -> None:
    code = """
import sys, importlib
import hudiidx
assert not [name for name in sys.modules if name.startswith(("pyspark", "py4j"))]
from pyspark.errors.exceptions import captured, connect
assert {captured.convert_exception.__module__, connect.convert_exception.__module__} == {"hudiidx._raised"}
before = captured.convert_exception, list(sys.meta_path)
importlib.reload(hudiidx)
assert (captured.convert_exception, list(sys.meta_path)) == before
importlib.reload(captured)
assert captured.convert_exception.__module__ == "hudiidx._raised"
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
