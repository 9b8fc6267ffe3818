"""Record keys as stock Hudi's key generators write them, by class, release and operation.

What asks by values finds every record, or says why it cannot.
"""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from stock_hudi import each

from hudiidx import HudiIndex, InvalidOption, UnsupportedTable

KEYGEN = "org.apache.hudi.keygen."
# Name, options of the table: one key field each.
GENERATORS = {
    "SimpleKeyGenerator": {},
    "ComplexKeyGenerator": {},
    "CustomKeyGenerator": {"hoodie.datasource.write.partitionpath.field": "city:SIMPLE"},
    "TimestampBasedKeyGenerator": {
        "hoodie.datasource.write.partitionpath.field": "ts",
        "hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
        "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
    },
    "NonpartitionedKeyGenerator": {"hoodie.datasource.write.partitionpath.field": ""},
    "GlobalDeleteKeyGenerator": {"hoodie.datasource.write.partitionpath.field": ""},
}
SHORT = ("SimpleKeyGenerator", "CustomKeyGenerator")
STOCKS = each()
CONSISTENT = "hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled"
ROWS = "select cast(id as string) id, cast(id as long) n, cast(id as long) ts, 'sf' city from range({}, {})"


def made(stock: Any, name: str, kind: str = "COW", **options: str) -> str:
    """A table of stock's, without rows yet; its folder."""
    return str(
        stock.new(
            name=name,
            kind=kind,
            options={
                "hoodie.metadata.enable": "false",
                "hoodie.write.complex.keygen.validation.enable": "false",
                **options,
            },
        )
    )


def asked(spark: SparkSession, first: int, end: int) -> DataFrame:
    return spark.range(first, end).selectExpr("cast(id as string) id", "id n")


def found(frame: DataFrame) -> int:
    return frame.where("file_id is not null").count()


def check(spark: SparkSession, path: str, texts: set[str]) -> None:
    """Ten records, found by values as by keys; `texts` are all keys that the value 5 has among them."""
    ours = spark.read.format("hudiidx").load(path)
    assert {r[0] for r in ours.where("n = 5").select("_hoodie_record_key").collect()} == texts
    index = HudiIndex(spark, path)
    index.create(record="global")
    ours = spark.read.format("hudiidx").load(path)
    one = ours.where("id = '5'")
    assert one.count() == 1 and "keys in 1 file groups" in index.explain(one)
    assert ours.where("id in ('5', '7', 'none')").count() == 2
    keys = asked(spark, 3, 12)
    assert ours.join(keys.drop("n").hint("broadcast"), "id").count() == 7
    assert {x.key for x in index.lookup([5])} == texts
    (missing,) = index.lookup([5, 77]).missing
    assert missing in ("77", "id:77")
    assert index.lookup([5], rows=True).count() == 1
    for key in ("id", ["id"]):
        tagged = index.tag_location(keys, key=key)
        assert tagged.count() == 9 and found(tagged) == 7
    assert found(index.tag_location(keys.select("n"), key="n")) == 7


@pytest.mark.parametrize("operation", ["insert", "bulk_insert"])
@pytest.mark.parametrize(
    "generator", [pytest.param(g, marks=() if g in SHORT else pytest.mark.slow) for g in GENERATORS]
)
@pytest.mark.parametrize("release", STOCKS)
def test_values_find_the_keys_of_every_known_generator(
    spark: SparkSession, request: pytest.FixtureRequest, release: str, generator: str, operation: str
) -> None:
    stock = request.getfixturevalue(release)
    name = f"keys-{generator}-{operation}"
    options = {"hoodie.datasource.write.keygenerator.class": KEYGEN + generator, **GENERATORS[generator]}
    path = made(stock, name, **options)
    stock.write_sql(name=name, sql=ROWS.format(0, 10), operation=operation)
    plain = generator not in ("ComplexKeyGenerator", "GlobalDeleteKeyGenerator")
    before = release in ("stock_0_15", "stock_1_0") and (
        generator == "ComplexKeyGenerator" or operation == "bulk_insert"
    )
    check(spark, path, {"5"} if plain or before else {"id:5"})


def test_one_table_with_complex_keys_of_both_forms(spark: SparkSession, stock_1_2: Any) -> None:
    encoding = "hoodie.write.complex.keygen.new.encoding"
    path = made(
        stock_1_2,
        "keys-both",
        **{
            "hoodie.datasource.write.keygenerator.class": KEYGEN + "ComplexKeyGenerator",
            "hoodie.write.table.version": "6",
        },
    )
    for sql, new in ((ROWS.format(0, 5), "true"), (ROWS.format(5, 10), "false")):
        stock_1_2.write_sql(name="keys-both", sql=sql, operation="insert", **{encoding: new})
    check(spark, path, {"id:5"})
    index = HudiIndex(spark, path)
    assert {x.key for x in index.lookup([4, 5])} == {"4", "id:5"}
    with pytest.raises(ValueError, match="both forms"):
        index.lookup([("id:5",)])
    with pytest.raises(Exception, match="both forms"):
        index.tag_location(spark.sql("select 'id:5' id"), key="id").collect()
    assert found(index.tag_location(spark.sql("select 'id:5' k"), key="k")) == 1


@pytest.mark.parametrize("release", STOCKS)
def test_a_generator_that_is_not_known_makes_no_key(
    spark: SparkSession, request: pytest.FixtureRequest, release: str
) -> None:
    stock = request.getfixturevalue(release)
    uuid = "org.apache.spark.sql.hudi.command.UuidKeyGenerator"
    path = made(stock, "keys-unknown", kind="MOR", **{"hoodie.datasource.write.keygenerator.class": uuid})
    stock.write_sql(name="keys-unknown", sql=ROWS.format(0, 10), operation="insert")
    index = HudiIndex(spark, path)
    index.create(record="global")
    ours = spark.read.format("hudiidx").load(path)
    assert ours.where("id = '5'").count() == 1
    assert ours.join(asked(spark, 3, 12).drop("n").hint("broadcast"), "id").count() == 7
    why = index.explain(ours.where("id = '5'"))
    assert "not one of those whose keys are known" in why and "UUID" in why.upper()
    for key in ("id", ["id"], "n"):
        with pytest.raises(InvalidOption, match="no record keys can be made"):
            index.tag_location(asked(spark, 0, 3), key=key)
    with pytest.raises(ValueError, match="pass the record key as text"):
        index.lookup([5])
    stored = [r[0] for r in ours.select("_hoodie_record_key").collect()]
    assert len(index.lookup(stored)) == 10
    if release != "stock_1_0":
        with pytest.raises(UnsupportedTable, match="not one of those whose keys are known"):
            ours.drop("_hoodie_record_key").limit(1).write.format("hudiidx").mode("append").save(path)


@pytest.mark.slow
@pytest.mark.parametrize("release", STOCKS)
@pytest.mark.parametrize("kind", ["COW", "MOR"])
def test_keys_that_stock_makes_itself_are_no_keys_by_value(
    spark: SparkSession, request: pytest.FixtureRequest, release: str, kind: str
) -> None:
    """Of a table without key fields."""
    stock = request.getfixturevalue(release)
    name = f"keys-auto-{kind}".lower()
    columns = "id string, n bigint, ts bigint, city string"
    path = stock.create_table(name=name, columns=columns, partition="city", properties={"type": kind.lower()})
    for first in (0, 5):
        stock.statement(name=name, sql=f"insert into @T {ROWS.format(first, first + 5)}")
    index = HudiIndex(spark, path)
    index.create(record="global")
    ours = spark.read.format("hudiidx").load(path)
    assert ours.where("id = '5'").count() == 1
    assert ours.where("id in ('5', '7', 'none')").count() == 2
    assert ours.join(asked(spark, 3, 12).drop("n").hint("broadcast"), "id").count() == 7
    assert "keys in" not in index.explain(ours.where("id = '5'"))
    for key in (["id"], "n"):
        with pytest.raises(InvalidOption, match="no record keys can be made"):
            index.tag_location(asked(spark, 0, 3), key=key)
    # A column of texts that is no key field has record keys.
    assert found(index.tag_location(asked(spark, 0, 3), key="id")) == 0
    stored = [r[0] for r in ours.select("_hoodie_record_key").collect()]
    assert len(set(stored)) == len(index.lookup(stored)) == 10
    assert found(index.tag_location(ours.selectExpr("_hoodie_record_key as k"), key="k")) == 10


@pytest.mark.parametrize("release", STOCKS)
def test_timestamps_and_binaries_are_no_keys_by_value(
    spark: SparkSession, request: pytest.FixtureRequest, release: str
) -> None:
    stock = request.getfixturevalue(release)
    sql = "select {} id, id n, 0L ts, 'sf' city from range(4)"
    texts = set()
    for i, (value, operation, more) in enumerate(
        (
            ("timestamp_seconds(1704067200 + id)", "insert", {}),
            ("timestamp_seconds(1704067200 + id)", "bulk_insert", {}),
            ("timestamp_seconds(1704067200 + id)", "insert", {CONSISTENT: "true"}),
            ("cast(cast(id as string) as binary)", "insert", {}),
        )
    ):
        name = f"keys-doubtful-{i}"
        path = made(stock, name, **more)
        stock.write_sql(name=name, sql=sql.format(value), operation=operation)
        index = HudiIndex(spark, path)
        index.create(record="global")
        ours = spark.read.format("hudiidx").load(path)
        texts.add(ours.where("n = 0").select("_hoodie_record_key").head()[0])
        literal = "timestamp_seconds(1704067200)" if "time" in value else "X'30'"
        one = ours.where(f"id = {literal}")
        assert one.count() == 1 and "in a record key" in index.explain(one)
        for key in ("id", ["id"]):
            with pytest.raises(InvalidOption, match="give record keys as texts"):
                index.tag_location(ours.select("id"), key=key)
        keys = ours.selectExpr("_hoodie_record_key as k")
        assert found(index.tag_location(keys, key="k")) == 4
    assert len(texts) == 3  # number, formatted, hexadecimal


@pytest.mark.parametrize(
    ("indexed", "compacts"),
    [
        ("before", "each time"),
        pytest.param("after", "each time", marks=pytest.mark.slow),
        pytest.param("before", "at the end", marks=pytest.mark.slow),
        pytest.param("after", "at the end", marks=pytest.mark.slow),
    ],
)
def test_keys_with_several_rows_in_a_base_file_are_where_a_compaction_leaves_them(
    spark: SparkSession, stock_1_2: Any, indexed: str, compacts: str
) -> None:
    """Inserts and clusterings leave them; whether a log deletes one of the rows or all, queries say."""
    name = f"repeated-keys-{indexed}-{compacts}".replace(" ", "-")
    path = stock_1_2.new(name=name, kind="MOR", options={"hoodie.clean.automatic": "false"})
    index = HudiIndex(spark, path, strict=True)

    def assert_right() -> None:
        asked = [f"k{i:06d}" for i in range(70)]
        rows = spark.read.format("hudiidx").option("hudiidx.index.enabled", "false").load(path)
        live = {r.id for r in rows.select("id").collect()}
        assert {found.key for found in index.lookup(asked)} == live
        index.update()
        assert {found.key for found in index.lookup(asked)} == live
        report = index.verify(record=True)
        assert report.ok, report

    def write(first: int, end: int, seed: int, operation: str) -> None:
        stock_1_2.write(name=name, first=first, end=end, seed=seed, operation=operation)

    write(0, 60, 1, "insert")
    if indexed == "before":
        index.create(record="global", logs=True)
    write(20, 50, 2, "insert")
    stock_1_2.cluster(name=name)
    if indexed == "after":
        index.create(record="global", logs=True)
    assert_right()
    before = spark.read.format("hudiidx").load(path).where("id = 'k000021'").count()
    assert before == 2
    for seed, (first, end, operation) in enumerate(
        [(10, 30, "delete"), (25, 35, "upsert"), (30, 45, "delete")]
    ):
        write(first, end, 10 + seed, operation)
        assert_right()
        if compacts == "each time" or seed == 2:
            stock_1_2.compact(name=name)
            assert_right()
    for travel in stock_1_2.travel(name=name):
        as_of = {"as.of.instant": travel["as_of"]}
        with_index, without = (
            {
                r.id
                for r in spark.read.format("hudiidx").options(**as_of, **how).load(path).where(KEYS).collect()
            }
            for how in ({"hudiidx.index.strict": "true"}, {"hudiidx.index.enabled": "false"})
        )
        assert with_index == without, travel["as_of"]


KEYS = "id in ('k000012', 'k000021', 'k000027', 'k000033', 'k000040', 'k000049')"
