"""The package as it is installed."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import FrozenInstanceError
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pyspark
import pytest
import spark_lines
from stored import ROOT

import hudiidx
from hudiidx import (
    BaseFile,
    ColumnIndexInfo,
    HudiIndex,
    IndexInfo,
    RecordInfo,
    configure_spark,
    errors,
    session,
)
from hudiidx._spark import spark_jars, spark_line
from hudiidx.session import jar_path


def test_the_wheel_carries_the_jar() -> None:
    assert jar_path().is_file()
    assert "site-packages" in str(jar_path())


def test_the_wheel_carries_licence_and_notice() -> None:
    for name in ("LICENSE", "NOTICE"):
        assert (jar_path().parents[1] / name).read_text() == (ROOT / name).read_text()


def test_the_source_package_carries_them_too_and_makes_the_same_wheel(tmp_path: Path) -> None:
    project = tmp_path / "project" / "python"
    shutil.copytree(
        ROOT / "python", project, symlinks=True, ignore=shutil.ignore_patterns("jars", "__pycache__")
    )
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, project.parent)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "sdist"], cwd=project, check=True)
    with tarfile.open(next((project / "dist").glob("*.tar.gz"))) as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    source = next((tmp_path / "unpacked").iterdir())
    for name in ("LICENSE", "NOTICE"):
        assert (source / name).read_text() == (ROOT / name).read_text()
        assert not (source / name).is_symlink()
    wheels = []
    for folder in (project, source):
        subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=folder, check=True)
        with ZipFile(next((folder / "dist").glob("*.whl"))) as wheel:
            wheels.append({n: wheel.read(n) for n in wheel.namelist() if not n.endswith("RECORD")})
    assert wheels[0] == wheels[1]
    assert {"hudiidx/LICENSE", "hudiidx/NOTICE"} <= wheels[0].keys()


def test_the_wheel_carries_a_jar_for_each_spark_line_and_the_installed_one_gets_its_own() -> None:
    names = sorted(p.name for p in jar_path().parent.glob("hudiidx-spark-*.jar"))
    version = hudiidx.__version__
    lines = ["3.5_2.12", *(f"{line}_2.13" for line in spark_lines.others())]
    assert names == [f"hudiidx-spark-{line}-{version}.jar" for line in lines]
    assert spark_line(spark_jars()) == ".".join(pyspark.__version__.split(".")[:2])
    assert jar_path().name.startswith(f"hudiidx-spark-{spark_line(spark_jars())}_")


@pytest.mark.parametrize(
    ("core", "line"),
    [("2.13-4.0.1", "4.0"), ("2.13-4.1.1-custom", "4.1"), ("2.13-4.2.1", "4.2"), ("2.12-3.5.0", "3.5")],
)
def test_the_jar_is_that_of_the_spark_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, core: str, line: str
) -> None:
    (tmp_path / f"spark-core_{core}.jar").touch()
    monkeypatch.setattr(session, "spark_jars", lambda: tmp_path)
    assert jar_path().name.startswith(f"hudiidx-spark-{line}_")
    if line != "3.5":
        with pytest.raises(RuntimeError, match=r"need Spark 3\.5"):
            session.writer_jars()


def test_a_spark_line_without_a_jar_is_an_error_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "spark_jars", lambda: tmp_path)
    with pytest.raises(RuntimeError, match="no Spark jars; install PySpark"):
        jar_path()
    (tmp_path / "spark-core_2.13-9.1.0.jar").touch()
    with pytest.raises(
        RuntimeError, match=r"Spark 9\.1 is installed .* 3\.5, 4\.0, 4\.1, 4\.2: .*pyspark==4\.2"
    ):
        jar_path()


def test_python_and_scala_have_one_version(indexed: HudiIndex, cow: Path) -> None:
    assert metadata.version("hudiidx") == hudiidx.__version__
    versions = sorted((cow / ".hoodie" / "hudiidx" / "versions").glob("*.json"))
    assert json.loads(versions[-1].read_text())["writer"] == f"hudiidx {hudiidx.__version__}"


def test_python_and_scala_have_the_same_errors() -> None:
    scala = (ROOT / "jvm/core/src/main/scala/hudiidx/Errors.scala").read_text()
    names = set(re.findall(r"final class (\w+)\(", scala))
    assert names == {kind.__name__ for kind in errors._KINDS}
    assert names < set(hudiidx.__all__)


def test_every_public_name_resolves_and_others_do_not() -> None:
    for name in hudiidx.__all__:
        assert getattr(hudiidx, name).__name__ == name
    assert set(hudiidx.__all__) <= set(dir(hudiidx))
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
        (
            IndexInfo("READY", index_version=3, files=9, partitions=2),
            "READY: version 3, 9 files in 2 partitions",
        ),
        (
            IndexInfo(
                "LAGGING",
                instants_behind=3,
                index_version=3,
                files=9,
                partitions=2,
                record=RecordInfo("global", None, 2, 100, 1, 1, 0),
                columns=(ColumnIndexInfo("range", ("ts", "fare")), ColumnIndexInfo("bloom", ("rider",))),
                logs=True,
            ),
            "LAGGING 3 instants: version 3, 9 files in 2 partitions; "
            "record keys (global); range of ts, fare; bloom of rider; log blocks",
        ),
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
