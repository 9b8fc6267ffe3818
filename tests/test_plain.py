"""Starting the plain JVM: class path, failures, what is passed on."""

from pathlib import Path

import pytest

from hudiidx import DamagedTable, NotAHudiTable
from hudiidx.cli import plain
from hudiidx.errors import exit_code


def test_the_class_path_begins_with_our_jar_and_takes_few_of_sparks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUDIIDX_CLASSPATH", "/x/s3.jar")
    jars = [Path(p).name for p in plain.class_path().split(":")]
    assert jars[0].startswith("hudiidx-spark-")
    assert jars[-1] == "s3.jar"
    assert any(j.startswith("hadoop-client-api") for j in jars)
    assert not any(j.startswith("spark-") for j in jars)


def test_java_home_goes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert plain.java() == str(tmp_path / "bin" / "java")


def test_a_java_home_without_java_is_an_error_and_not_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(plain.CommandFailed, match="JAVA_HOME=/nowhere: has no bin/java"):
        plain.java()


def test_no_java_is_said_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(plain.CommandFailed, match="no java: set JAVA_HOME or install Java 17"):
        plain.java()


def test_the_error_document_becomes_the_python_error() -> None:
    said = 'noise\n{"error": "hudiidx.NotAHudiTable", "message": "/t: no such folder"}\n'
    error = plain._failure(3, said)
    assert isinstance(error, NotAHudiTable)
    assert str(error) == "/t: no such folder"
    assert isinstance(plain._failure(3, '{"error": "DamagedTable", "message": "m"}'), DamagedTable)


def test_an_error_of_others_is_named() -> None:
    assert (
        str(plain._failure(1, '{"error": "java.io.IOException", "message": "full"}'))
        == "java.io.IOException: full"
    )
    assert str(plain._failure(134, "{broken\nCannot allocate memory\n")) == (
        "java ended with exit code 134: Cannot allocate memory"
    )
    trace = 'Exception in thread "main" java.lang.Error: broken\n\tat a.B.c(B.java:1)\n\t... 25 more\n'
    assert str(plain._failure(1, trace)) == (
        'java ended with exit code 1: Exception in thread "main" java.lang.Error: broken'
    )
    lacks = "Caused by: java.lang.ClassNotFoundException: org.a.B$C\n\t... 25 more\n"
    assert "no jar on the class path has org.a.B$C: name the jar" in str(plain._failure(1, lacks))
    assert str(plain._failure(1, "")) == "java ended with exit code 1: no message"


def test_exit_codes_tell_table_index_and_usage_apart() -> None:
    from hudiidx import IndexNotFound, InvalidOption

    codes = [exit_code(e("m")) for e in (InvalidOption, NotAHudiTable, IndexNotFound, OSError)]
    assert codes == [2, 3, 4, 5]
