"""What others wrote into a table's folder, and what a session has of its own, on the Spark that is installed.

Spark 4 has what earlier ones lack: variables and functions of a session in SQL, `try_reflect`, collations,
variants.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import stored
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from hudiidx import HudiIndex, InvalidOption

SECRET = "hush-4c1f09"
MARK = "hudiidx.line.mark"
WITHOUT = {"hoodie.enable.data.skipping": "false"}


@pytest.fixture(scope="module")
def secretive(spark: SparkSession) -> Iterator[SparkSession]:
    """The session of somebody who has secrets in variables, functions, properties and settings, and views."""
    jvm: Any = spark._jvm
    jvm.java.lang.System.setProperty("hudiidx.line.secret", SECRET)
    spark.conf.set("spark.hadoop.fs.s3a.secret.key", SECRET)
    spark.udf.register("decrypt", lambda text: SECRET + text)
    spark.sql(
        f"CREATE OR REPLACE TEMPORARY FUNCTION opened(x STRING) RETURNS STRING RETURN concat('{SECRET}', x)"
    )
    spark.sql(f"DECLARE OR REPLACE VARIABLE leak STRING DEFAULT '{SECRET}'")
    spark.sql(f"DECLARE OR REPLACE VARIABLE rider STRING DEFAULT '{SECRET}'")
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW secrets AS SELECT '{SECRET}' AS rider")
    yield spark
    spark.sql("DROP TEMPORARY VARIABLE leak")
    spark.sql("DROP TEMPORARY VARIABLE rider")
    spark.sql("DROP TEMPORARY FUNCTION opened")
    spark.sql("DROP VIEW secrets")
    spark.sql("DROP TEMPORARY FUNCTION decrypt")
    spark.conf.unset("spark.hadoop.fs.s3a.secret.key")
    jvm.java.lang.System.clearProperty("hudiidx.line.secret")


# A text that stays one: bounds have 64 bytes of it. Others have the variables among what may be in no index.
VARIABLES = "concat('${system:hudiidx.line.secret}/${env:PATH}', rider)"
# Of the column rider; none may be in an index.
HOSTILE = (
    "concat('${env:PATH}/${system:hudiidx.line.secret}/', current_user())",
    f"IDENTIFIER('reflect')('java.lang.System', 'setProperty', '{MARK}', rider)",
    f"reflect('java.lang.System', 'setProperty', '{MARK}', rider)",
    f"try_reflect('java.lang.System', 'setProperty', '{MARK}', rider)",
    f"java_method('java.lang.System', 'setProperty', '{MARK}', rider)",
    "IDENTIFIER('decrypt')(rider)",
    "decrypt(rider)",
    "opened(rider)",
    "session.opened(rider)",
    "concat(leak, rider)",
    "concat(session.leak, rider)",
    "concat(system.session.leak, rider)",
    "concat(IDENTIFIER('leak'), rider)",
    "concat(rider, (SELECT rider FROM secrets))",
    "concat(rider, session_user())",
    "concat(:leak, rider)",
    "rider COLLATE UNICODE_CI",
    "collate(rider, 'UTF8_LCASE')",
    "collation(rider)",
    "upper(rider COLLATE UTF8_LCASE)",
    "CAST(rider AS STRING COLLATE UNICODE_CI)",
    "rider = 'a' COLLATE UTF8_LCASE",
    "CAST(parse_json(rider) AS STRING)",
    "variant_get(try_parse_json(rider), '$.a', 'string')",
    "CAST(to_variant_object(named_struct('a', rider)) AS STRING)",
    "schema_of_variant(try_parse_json(rider))",
    "concat(rider, randstr(5, 1))",
    "uniform(1, 9, 1) + length(rider)",
    "listagg(rider)",
    "aes_decrypt(rider, leak)",
    "current_time()",
    "BEGIN SELECT rider; END",
    "TABLE secrets |> SELECT rider",
)
# Trees of names that earlier Sparks do not know, as the second form would keep them.
TREES = (
    'try_reflect([string]"java.lang.System", [string]"getProperty", "rider")',
    'collate("rider", [string]"UNICODE_CI")',
    'parse_json("rider")',
    'opened("rider")',
    'cast[string collate UNICODE_CI]("rider")',
    'cast[variant]("rider")',
    '[variant]"1"',
    "current_time()",
)
FILTERS = ("rider >= 'k' AND n > 3", "upper(rider) = 'R7' OR n + qty > 50", "length(rider) > 0 AND n > 30")


class Forged:
    """A table whose index is a write behind, and may be changed by whoever can write to its folder."""

    def __init__(self, spark: SparkSession, table: Path, behind: Callable[[], Any]) -> None:
        self.spark, self.table, self.folder = spark, table, table / ".hoodie" / "hudiidx"
        with behind():
            HudiIndex(spark, table).create(columns=["n"])
        shutil.copytree(self.folder, table.parent / "kept")

    def forge(self, sql: list[str], facts: str) -> None:
        shutil.rmtree(self.folder)
        shutil.copytree(self.table.parent / "kept", self.folder)
        version = max((self.folder / "versions").glob("*.json"))
        document = json.loads(version.read_text())
        del document["crc32c"]
        paths = ["`=" + f"{s} {facts}".replace("`", "``") + "`" for s in sql]
        properties = document["properties"]
        properties["column.index.range"] = "\n".join(["n", *paths])
        properties["column.specs"] = properties["column.pending"] = f"range(n,{','.join(paths)})"
        body = json.dumps(document, separators=(",", ":"), ensure_ascii=False)[:-1]
        jvm: Any = self.spark._jvm
        crc = jvm.java.util.zip.CRC32C()
        crc.update(bytearray(body.encode()))
        version.write_text(f'{body},"crc32c":"{crc.getValue():08x}"}}')

    def specs(self) -> str:
        version = max((self.folder / "versions").glob("*.json"))
        return str(json.loads(version.read_text())["properties"]["column.specs"])

    def read(self, **options: str) -> DataFrame:
        return self.spark.read.format("hudiidx").options(**options).load(str(self.table))


@pytest.fixture(scope="module")
def forged(secretive: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Forged:
    fixture = stored.load("v9-cow-part")
    table = fixture.unpack(tmp_path_factory.mktemp("forged"))
    # The last instant is a clean: without a file to take in an update evaluates nothing.
    return Forged(secretive, table, lambda: stored.rewound(table, fixture, 2))


@pytest.mark.parametrize(
    ("expressions", "form"),
    [
        *(([sql], "") for sql in HOSTILE),
        ([*HOSTILE], "1"),
        ([VARIABLES], ""),
        ([VARIABLES], "1"),
        *(([tree], "2") for tree in TREES),
    ],
)
def test_stored_expressions_are_never_evaluated(forged: Forged, expressions: list[str], form: str) -> None:
    """Neither by reads nor by updates, and rows are those of a read without an index."""
    forged.forge(expressions, facts(forged.spark, form))
    index = HudiIndex(forged.spark, forged.table)
    before = settings(forged.spark)
    told = look(forged)
    told += str(index.update()) + str(index.info()) + str(index.report().facts)
    told += look(forged)
    assert settings(forged.spark) == before
    jvm: Any = forged.spark._jvm
    assert jvm.java.lang.System.getProperty(MARK) is None
    held = [f for f in forged.folder.rglob("*") if f.is_file()]
    hidden = (SECRET.encode(), os.environ["PATH"][:24].encode())
    wrong = [f for f in held if any(text in f.read_bytes() for text in hidden)]
    assert wrong == [] and SECRET not in told
    assert "range(n" in forged.specs()
    assert [e for e in expressions if e[:24] in forged.specs()] == [e for e in expressions if e == VARIABLES]


def facts(spark: SparkSession, form: str) -> str:
    """Of this process: an expression with others is evaluated by nobody."""
    jvm: Any = spark._jvm
    line, java = ".".join(spark.version.split(".")[:2]), jvm.java.lang.Runtime.version().feature()
    return f"{{v={form}; types=string; spark={line}; java={java}}}" if form else ""


def look(forged: Forged) -> str:
    """What reads tell; their rows are right."""
    told = ""
    for where in FILTERS:
        found = forged.read().where(where)
        right = forged.read(**WITHOUT).where(where)
        assert sorted(map(str, found.collect())) == sorted(map(str, right.collect())), where
        told += HudiIndex(forged.spark, forged.table).explain(found)
    return told


def settings(spark: SparkSession) -> dict[str, str]:
    return {r.key: r.value for r in spark.sql("SET").collect()}


def test_expressions_with_what_a_session_has_are_refused_where_a_person_gives_them(forged: Forged) -> None:
    index = HudiIndex(forged.spark, forged.table)
    if not (forged.folder / "versions").exists():
        index.create()
    before = forged.specs()
    for sql in HOSTILE[1:]:
        with pytest.raises(InvalidOption):
            index.add_index(sql if "(" in sql else f"({sql})")
    assert forged.specs() == before


COLLATED = (
    "rider COLLATE UTF8_LCASE = 'R7'",
    "rider = 'R7' COLLATE UNICODE_CI",
    "rider COLLATE UTF8_LCASE IN ('R7', 'R12')",
    "rider COLLATE UNICODE_CI >= 'RIDER-5'",
    "startswith(rider COLLATE UTF8_LCASE, 'R')",
    "upper(rider) COLLATE UTF8_LCASE = lower('R7')",
    "city COLLATE UTF8_LCASE = 'SF'",
    "city COLLATE UNICODE_CI IN ('OSLO', 'Lima')",
    "_hoodie_record_key COLLATE UTF8_LCASE = upper('{key}')",
    "id COLLATE UTF8_LCASE = upper('{key}')",
)


@pytest.fixture(scope="module")
def indexed(secretive: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with indexes of each kind, on columns and expressions, made under ANSI."""
    table = stored.load("v9-cow-part").unpack(tmp_path_factory.mktemp("indexed"))
    secretive.conf.set("spark.sql.ansi.enabled", "true")
    HudiIndex(secretive, table).create(
        record="global",
        columns=["*", "n + qty", "upper(rider)", "substring(rider, 7)", "length(rider) * qty"],
        bloom=["rider", "city"],
        values=["rider"],
    )
    return table


def both(spark: SparkSession, table: Path, where: str) -> tuple[Any, Any]:
    """The rows of a filter, or the class of its error, with the index and without."""

    def ask(**options: str) -> Any:
        try:
            rows = spark.read.format("hudiidx").options(**options).load(str(table)).where(where).collect()
        except PySparkException as e:
            return e.getCondition() if hasattr(e, "getCondition") else e.getErrorClass()
        return sorted(map(str, rows))

    return ask(), ask(**WITHOUT, **{"hudiidx.read.record.keys": "false"})


def test_filters_with_collations_have_the_rows_of_a_read_without_an_index(
    secretive: SparkSession, indexed: Path
) -> None:
    one = secretive.read.format("hudiidx").load(str(indexed)).first()
    some = 0
    for where in COLLATED:
        asked = where.replace("{key}", one._hoodie_record_key).replace("R7", one.rider.upper())
        found, right = both(secretive, indexed, asked)
        assert found == right, where
        some += bool(found)
    assert some == len(COLLATED)


ANSI = (
    "n + qty > 50",
    "n + qty < 2147483647 + n",
    "upper(rider) = 'R7'",
    "substring(rider, 7) = '69'",
    "substring(rider, 7) = 69",
    "length(rider) * qty > 100",
    "length(rider) * qty > 2147483647 * 2",
    "rider = 7",
    "rider > 7",
    "n = '41'",
    "n = 'x'",
    "CAST(rider AS INT) = 3",
    "qty / 0 > 1",
    "day > 'never'",
    "fare = '1e400'",
)


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_rows_of_expressions_are_those_of_a_read_without_an_index_with_and_without_ansi(
    secretive: SparkSession, indexed: Path, ansi: str
) -> None:
    rider = secretive.read.format("hudiidx").load(str(indexed)).first().rider.upper()
    some = 0
    secretive.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        for where in ANSI:
            found, right = both(secretive, indexed, where.replace("R7", rider))
            assert found == right, where
            some += isinstance(found, list) and bool(found)
    finally:
        secretive.conf.unset("spark.sql.ansi.enabled")
    assert some >= 5
    one = secretive.read.format("hudiidx").load(str(indexed)).where(f"upper(rider) = '{rider}'")
    assert "upper(rider)" in HudiIndex(secretive, indexed).explain(one)


def test_names_of_a_session_do_not_stand_for_columns(secretive: SparkSession, indexed: Path) -> None:
    """A variable, a view and a function of the names of a column and of one of Spark's."""
    session = secretive.newSession()
    one = secretive.read.format("hudiidx").load(str(indexed)).first().rider
    session.sql(f"DECLARE VARIABLE rider STRING DEFAULT '{one}'")
    session.udf.register("upper", lambda text: one.upper())
    session.sql("CREATE TEMPORARY VIEW trips AS SELECT 'R7' AS rider")
    for where in (
        "upper(rider) = 'R7'",
        "rider = 'r7'",
        "upper(rider) = session.rider",
        "rider = session.rider",
    ):
        found, right = both(session, indexed, where)
        assert found == right, where
