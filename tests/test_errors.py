"""Bad input: the right answer through the fallback, or a typed error; never a wrong answer."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import stored
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from hudiidx import (
    DamagedIndex,
    DamagedTable,
    HudiIdxException,
    HudiIndex,
    IndexNotFound,
    NotAHudiTable,
    StaleIndex,
    UnsupportedTable,
)

MakeTable = Callable[[str], Path]
FALLBACK = (DamagedIndex, IndexNotFound, StaleIndex)


def test_a_missing_path_is_not_a_hudi_table(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(NotAHudiTable, match="nowhere"):
        HudiIndex(spark, tmp_path / "nowhere").create()


def test_a_folder_without_hudi_is_not_a_hudi_table(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(NotAHudiTable):
        HudiIndex(spark, tmp_path).partitions()


@pytest.mark.parametrize("name", stored.damaged("no-properties"))
def test_missing_properties_are_named(spark: SparkSession, make_table: MakeTable, name: str) -> None:
    with pytest.raises(HudiIdxException, match=r"hoodie\.properties"):
        HudiIndex(spark, make_table(name)).create()


@pytest.mark.parametrize("name", stored.damaged("commit-file"))
def test_a_truncated_commit_file_is_named(spark: SparkSession, make_table: MakeTable, name: str) -> None:
    table = make_table(name)
    damaged = Path(stored.load(name).answers["damage"]["file"]).name
    with pytest.raises(DamagedTable, match=damaged):
        HudiIndex(spark, table).latest_base_files("sf")


@pytest.mark.parametrize("version", [5, 10])
def test_other_table_versions_are_refused_by_number(spark: SparkSession, cow: Path, version: int) -> None:
    properties = cow / ".hoodie" / "hoodie.properties"
    text = properties.read_text().replace("hoodie.table.version=9", f"hoodie.table.version={version}")
    properties.write_text("\n".join(x for x in text.splitlines() if "checksum" not in x) + "\n")
    with pytest.raises(UnsupportedTable, match=rf"{version}.*6.*8.*9"):
        HudiIndex(spark, cow).create()


def test_merging_by_a_payload_class_of_the_users_is_refused_clearly(
    spark: SparkSession, make_table: MakeTable
) -> None:
    table = make_table("v6-mor-part")
    properties = table / ".hoodie" / "hoodie.properties"
    text = properties.read_text()
    assert "OverwriteWithLatestAvroPayload" in text
    properties.write_text(
        text.replace("org.apache.hudi.common.model.OverwriteWithLatestAvroPayload", "com.example.Merge")
    )
    reader = spark.read.format("hudiidx")
    with pytest.raises(UnsupportedTable, match=r"com\.example\.Merge.*read_optimized"):
        reader.load(str(table)).count()
    expected = stored.load("v6-mor-part").answers["read_optimized"]["count"]
    base_only = reader.option("hoodie.datasource.query.type", "read_optimized").load(str(table))
    assert base_only.count() == expected


@pytest.mark.parametrize("name", stored.damaged("missing-base"))
def test_a_missing_data_file_is_never_skipped(spark: SparkSession, make_table: MakeTable, name: str) -> None:
    """Without an index the timeline still names the file; verify says that it is gone."""
    table = make_table(name)
    gone = Path(stored.load(name).answers["damage"]["file"]).name
    try:
        index = HudiIndex(spark, table)
        index.create()
        assert gone in {b.file_name for b in index.all_base_files("sf")}
        report = index.verify()
        assert gone in {d.file for d in report.differences}
    except DamagedTable as e:
        assert gone in str(e)


def test_errors_of_spark_calls_are_ours_and_the_others_stay(spark: SparkSession, cow: Path) -> None:
    rows = spark.read.format("hudiidx").load(str(cow))
    newest = Path(str(rows.select("_file").first()[0]).removeprefix("file:"))
    newest.write_bytes(b"PAR1" * 30)
    with pytest.raises(HudiIdxException, match=newest.name) as told:
        rows.collect()
    assert "\tat " not in str(told.value) and told.value.__cause__ is None
    with pytest.raises(NotAHudiTable, match="nowhere"):
        spark.read.format("hudiidx").load("/nowhere").show()
    with pytest.raises(AnalysisException, match="no_such_column"):
        rows.select("no_such_column")


def test_update_without_an_index_names_create(spark: SparkSession, cow: Path, tmp_path: Path) -> None:
    with pytest.raises(NotAHudiTable, match="nowhere"):
        HudiIndex(spark, tmp_path / "nowhere").update()
    with pytest.raises(IndexNotFound, match="create"):
        HudiIndex(spark, cow).update()


def test_strict_refuses_what_lenient_answers_without_an_index(spark: SparkSession, cow: Path) -> None:
    with pytest.raises(FALLBACK):
        HudiIndex(spark, cow, strict=True).latest_base_files("sf")
    lenient = HudiIndex(spark, cow)
    assert lenient.latest_base_files("sf") == stored.load(cow.name).base_files("sf", "latest_base_files")
    assert sum(lenient.info().fallbacks.values()) >= 1


def index_files(table: Path) -> list[Path]:
    return sorted(f for f in (table / ".hoodie" / "hudiidx").rglob("*") if f.is_file())


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "remove"])
def test_damage_to_any_index_file_never_changes_an_answer(
    spark: SparkSession, indexed: HudiIndex, damage: str
) -> None:
    table = Path(indexed.path)
    fixture = stored.load(table.name)
    files = [f for f in index_files(table) if not f.name.endswith(".crc")]
    assert len(files) >= 3
    for f in files:
        whole = f.read_bytes()
        spoil(f, damage)
        lenient = HudiIndex(spark, table)
        for p in fixture.partitions:
            assert lenient.latest_base_files(p) == fixture.base_files(p, "latest_base_files"), (f.name, p)
        assert spark.read.format("hudiidx").load(str(table)).count() == fixture.answers["snapshot"]["count"]
        f.write_bytes(whole)
    assert HudiIndex(spark, table, strict=True).partitions() == fixture.partitions


def spoil(f: Path, damage: str) -> None:
    """Damages a file; Hadoop's own checksum file goes too, so that ours is what notices."""
    content = f.read_bytes()
    f.with_name(f".{f.name}.crc").unlink(missing_ok=True)
    f.unlink()
    middle = len(content) // 2
    if damage == "truncate":
        f.write_bytes(content[:middle])
    elif damage == "flip":
        f.write_bytes(content[:middle] + bytes([content[middle] ^ 0x40]) + content[middle + 1 :])
    elif damage == "empty":
        f.write_bytes(b"")


def test_the_index_of_another_table_is_not_believed(
    spark: SparkSession, make_table: MakeTable, indexed: HudiIndex
) -> None:
    other = make_table("v9-cow-types")
    (other / ".hoodie" / "hudiidx").parent.mkdir(exist_ok=True)
    (Path(indexed.path) / ".hoodie" / "hudiidx").rename(other / ".hoodie" / "hudiidx")
    fixture = stored.load(other.name)
    lenient = HudiIndex(spark, other)
    assert lenient.partitions() == fixture.partitions
    for p in fixture.partitions:
        assert lenient.latest_base_files(p) == fixture.base_files(p, "latest_base_files")
    assert lenient.info().state == "BROKEN"
    with pytest.raises(FALLBACK):
        HudiIndex(spark, other, strict=True).partitions()


def test_verify_finds_a_data_file_that_was_removed(indexed: HudiIndex) -> None:
    (base,) = indexed.latest_base_files("sf")
    (Path(indexed.path) / "sf" / base.file_name).unlink()
    report = indexed.verify()
    assert not report.ok
    (difference,) = [d for d in report.differences if d.file == base.file_name]
    assert difference.partition == "sf"
    assert difference.cause


def test_verify_finds_a_data_file_that_changed_its_size(indexed: HudiIndex) -> None:
    (base,) = indexed.latest_base_files("nyc")
    with (Path(indexed.path) / "nyc" / base.file_name).open("ab") as f:
        f.write(b"x")
    assert base.file_name in {d.file for d in indexed.verify().differences}


def test_verify_lets_a_file_being_written_be(indexed: HudiIndex) -> None:
    (base,) = indexed.latest_base_files("sf")
    later = base.file_name.replace(base.instant_time, "20991231235959999")
    (Path(indexed.path) / "sf" / later).write_bytes(b"half")
    timeline = Path(indexed.path) / ".hoodie" / "timeline"
    (timeline / "20991231235959999.commit.requested").touch()
    (timeline / "20991231235959999.inflight").touch()
    report = indexed.verify()
    assert report.ok, report.differences


def test_a_session_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="spark must be a SparkSession, got str"):
        HudiIndex("spark", tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [3, ["sf"], b"sf"])
def test_a_partition_of_the_wrong_type_is_refused(indexed: HudiIndex, bad: object) -> None:
    with pytest.raises(TypeError, match="partition must be a partition path"):
        indexed.latest_base_files(bad)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="as_of must be an instant time as text, got 20240101"):
        indexed.latest_base_files("sf", as_of=20240101)  # type: ignore[call-overload]


def test_a_session_without_our_jar_says_what_to_do(cow: Path) -> None:
    code = (
        "from pyspark.sql import SparkSession; from hudiidx import HudiIndex\n"
        "s = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false').getOrCreate()\n"
        "try: HudiIndex(s, 'x')\n"
        "except RuntimeError as e: print(e)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "configure_spark" in done.stdout
    assert "--jars" in done.stdout


def test_a_table_that_takes_no_index_folder_is_a_typed_error(spark: SparkSession, cow: Path) -> None:
    (cow / ".hoodie" / "hudiidx").write_text(json.dumps("a file where the folder should be"))
    with pytest.raises(HudiIdxException, match="hudiidx"):
        HudiIndex(spark, cow).create()
