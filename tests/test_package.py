"""The package as it is installed."""

import re
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from stored import ROOT

import hudiidx
from hudiidx import BaseFile, IndexInfo, configure_spark, errors
from hudiidx.session import jar_path


def test_the_wheel_carries_the_jar() -> None:
    assert jar_path().is_file()
    assert "site-packages" in str(jar_path())


def test_python_and_scala_have_one_version() -> None:
    build = (ROOT / "build.sbt").read_text()
    assert f'ThisBuild / version := "{hudiidx.__version__}"' in build
    assert f'version = "{hudiidx.__version__}"' in (ROOT / "python" / "pyproject.toml").read_text()


def test_python_and_scala_have_the_same_errors() -> None:
    scala = (ROOT / "jvm/core/src/main/scala/hudiidx/Errors.scala").read_text()
    names = set(re.findall(r"final class (\w+)\(", scala))
    assert names == {kind.__name__ for kind in errors._KINDS}
    assert names < set(hudiidx.__all__)


def test_every_public_name_resolves_and_others_do_not() -> None:
    for name in hudiidx.__all__:
        assert getattr(hudiidx, name).__name__ == name
    with pytest.raises(AttributeError, match="nothing"):
        _ = hudiidx.nothing


def test_importing_the_command_does_not_import_pyspark() -> None:
    code = "import sys, hudiidx.cli.main; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_models_are_frozen() -> None:
    base = BaseFile("p", "f", "1", "f_1.parquet", 3)
    with pytest.raises(FrozenInstanceError):
        base.size = 4  # type: ignore[misc]


@pytest.mark.parametrize(
    ("info", "text"),
    [
        (IndexInfo("READY"), "READY"),
        (IndexInfo("LAGGING", instants_behind=1), "LAGGING 1 instant"),
        (IndexInfo("LAGGING", instants_behind=3), "LAGGING 3 instants"),
        (IndexInfo("BROKEN", reason="bad checksum"), "BROKEN bad checksum"),
    ],
)
def test_a_state_is_one_line(info: IndexInfo, text: str) -> None:
    assert str(info) == text


class Builder:
    """What configure_spark needs of a Spark builder."""

    def __init__(self, **options: str) -> None:
        self._options = options

    def config(self, key: str, value: str) -> "Builder":
        self._options[key] = value
        return self


def test_configure_spark_keeps_what_the_user_set() -> None:
    mine = {"spark.jars": "/a.jar,/b.jar", "spark.driver.extraClassPath": "/a.jar", "spark.app.name": "x"}
    builder = Builder(**mine)
    configure_spark(builder)  # type: ignore[arg-type]
    jar = str(jar_path())
    assert builder._options == {
        "spark.jars": f"/a.jar,/b.jar,{jar}",
        "spark.driver.extraClassPath": f"/a.jar:{jar}",
        "spark.app.name": "x",
    }


def test_configure_spark_twice_is_configure_spark_once() -> None:
    builder = Builder()
    configure_spark(builder)  # type: ignore[arg-type]
    once = dict(builder._options)
    configure_spark(builder)  # type: ignore[arg-type]
    assert builder._options == once


def test_preflight_finds_all_tools_here_and_names_what_is_missing(tmp_path: Path) -> None:
    script = str(ROOT / "scripts" / "preflight")
    assert subprocess.run([script], check=False).returncode == 0
    for tool in ("bash", "env", "id", "sed", "head", "dirname", "readlink"):
        found = subprocess.run(["which", tool], capture_output=True, text=True, check=True).stdout.strip()
        (tmp_path / tool).symlink_to(found)
    bare = subprocess.run([script], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert bare.returncode == 1
    for missing in ("Python", "Java 17", "Maven", "make"):
        assert f"missing: {missing}" in bare.stderr
    assert bare.stderr.count("install it with:") == 4
