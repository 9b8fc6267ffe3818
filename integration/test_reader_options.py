"""Options of stock Hudi's reader: none is taken silently and not followed, and those that are followed
give stock's rows, on tables where they decide which."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hudifix
import pytest
from pyspark.sql import SparkSession
from stock_hudi import NEWEST, OLDEST, each

from hudiidx import HudiIndex

Options = dict[str, str]
QUERY = "hoodie.datasource.query.type"
VIEW = "hoodie.datasource.view.type"
BEGIN = "hoodie.datasource.read.begin.instanttime"
END = "hoodie.datasource.read.end.instanttime"
GLOB = "hoodie.datasource.read.incr.path.glob"
SKIP_COMPACTION = "hoodie.datasource.read.incr.skip_compact"
END_COLUMNS = "hoodie.datasource.read.schema.use.end.instanttime"
FALLBACK = "hoodie.datasource.read.incr.fallback.fulltablescan.enable"
BY_ID = "hoodie.schema.on.read.enable"
OF_PATHS = "hoodie.datasource.read.extract.partition.values.from.path"
AS_OF = "as.of.instant"
BASE_ALONE = {QUERY: "read_optimized"}
PLAIN = {"hoodie.metadata.enable": "false"}


@pytest.mark.parametrize("stock", each())
def test_every_option_of_stocks_reader_has_a_decision(
    spark: SparkSession, stock: str, request: pytest.FixtureRequest
) -> None:
    names: Any = request.getfixturevalue(stock).reader_options()
    assert len(names) > 15 and "hoodie.datasource.merge.type" in names
    decisions = spark._jvm.hudiidx.spark.options.StockReadOptions  # type: ignore[union-attr]
    assert [name for name in names if not decisions.isDecided(name)] == []


@dataclass
class Both:
    """A table of stock's, asked by stock and by hudiidx."""

    spark: SparkSession
    stock: Any
    name: str
    path: Path

    @property
    def times(self) -> list[str]:
        """Of completed writes, as ranges have them."""
        return list(self.stock.completions(name=self.name))

    def theirs(self, options: Options) -> list[str]:
        return list(self.stock.texts(name=self.name, options=options))

    def ours(self, options: Options) -> list[str]:
        return list(
            hudifix.answer(self.spark.read.format("hudiidx").options(**options).load(str(self.path)))[0]
        )

    def same(self, options: Options, unlike: Options) -> None:
        """Rows are stock's, and others than stock's with the other options."""
        theirs = self.theirs(options)
        assert theirs != self.theirs(unlike), "the option decides nothing here"
        assert self.ours(options) == theirs

    def same_or_refused(self, options: Options) -> list[str] | None:
        """Rows are stock's; None where stock fails, and hudiidx too."""
        try:
            theirs = self.theirs(options)
        except RuntimeError:
            with pytest.raises(Exception, match="hudiidx"):
                self.ours(options)
            return None
        assert self.ours(options) == theirs
        return theirs


def new(spark: SparkSession, stock: Any, name: str, kind: str, **options: str) -> Both:
    return Both(spark, stock, name, Path(stock.new(name=name, kind=kind, options={**PLAIN, **options})))


@pytest.fixture(scope="module")
def made() -> dict[tuple[str, str], Both]:
    return {}


def written(spark: SparkSession, stock: Any, kind: str, made: dict[tuple[str, str], Both]) -> Both:
    """Inserts, updates, on merge-on-read a compaction, updates, and a write with a column more."""
    key = (stock.release, kind)
    if key not in made:
        name = f"options-{kind}".lower()
        table = new(spark, stock, name, kind)
        stock.write(name=name, first=0, end=40, seed=2, operation="insert")
        stock.write(name=name, first=0, end=12, seed=3)
        if kind == "MOR":
            stock.compact(name=name)
        stock.write(name=name, first=4, end=16, seed=5)
        stock.write(name=name, first=8, end=30, seed=6, columns=["nullif(id, -1) as extra"])
        made[key] = table
    return made[key]


def changes(begin: str, **more: str) -> Options:
    return {QUERY: "incremental", BEGIN: begin, **more}


@dataclass(frozen=True)
class Case:
    """Options by the times of the table's writes, and those without the one in question."""

    options: Callable[[list[str]], Options]
    unlike: Callable[[list[str]], Options] = lambda _: {}
    kinds: tuple[str, ...] = ("COW", "MOR")
    releases: tuple[str, ...] = (OLDEST, NEWEST)


CASES = {
    "kind-of-query": Case(lambda _: {QUERY: "read_optimized"}, kinds=("MOR",)),
    "older-name-of-incremental": Case(lambda at: {VIEW: "incremental", BEGIN: at[-2]}),
    "begin": Case(lambda at: changes(at[0]), lambda _: changes("000"), releases=(NEWEST,)),
    "end": Case(lambda at: changes(at[0], **{END: at[-2]}), lambda at: changes(at[0])),
    "path-pattern": Case(lambda at: changes(at[0], **{GLOB: "/sf/*"}), lambda at: changes(at[0])),
    "path-pattern-of-two": Case(
        lambda at: changes(at[0], **{GLOB: "/{sf,oslo}/*"}), lambda at: changes(at[0])
    ),
}
SHORT = ("older-name-of-incremental", "path-pattern")


@pytest.mark.parametrize(
    ("release", "kind", "case"),
    [
        pytest.param(
            release,
            kind,
            case,
            marks=() if (release, kind) == (NEWEST, "MOR") and name in SHORT else pytest.mark.slow,
            id=f"{release}-{kind}-{name}",
        )
        for name, case in CASES.items()
        for release in case.releases
        for kind in case.kinds
    ],
)
def test_an_option_that_is_followed_gives_stocks_rows(
    spark: SparkSession,
    release: str,
    kind: str,
    case: Case,
    made: dict[tuple[str, str], Both],
    request: pytest.FixtureRequest,
) -> None:
    table = written(spark, request.getfixturevalue(release), kind, made)
    at = table.times
    table.same(case.options(at), case.unlike(at))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["COW", "MOR"])
@pytest.mark.parametrize("release", [OLDEST, NEWEST])
def test_moments_in_all_forms_are_those_of_stock(
    spark: SparkSession,
    release: str,
    kind: str,
    made: dict[tuple[str, str], Both],
    request: pytest.FixtureRequest,
) -> None:
    table = written(spark, request.getfixturevalue(release), kind, made)
    second = table.stock.completed(name=table.name)[1]
    day, clock = (
        f"{second[:4]}-{second[4:6]}-{second[6:8]}",
        f"{second[8:10]}:{second[10:12]}:{second[12:14]}",
    )
    for text in (second, f"{day} {clock}.{second[14:]}", f"{day} {clock}", second[:14]):
        table.same({AS_OF: text}, {})
    # A day is its first moment, which is before all writes.
    assert table.ours({AS_OF: day}) == table.theirs({AS_OF: day}) == []


@pytest.mark.slow
@pytest.mark.parametrize(("release", "kind"), [(OLDEST, "COW"), (NEWEST, "COW"), (NEWEST, "MOR")])
def test_columns_of_the_end_are_stocks_where_stock_leaves_later_ones_out(
    spark: SparkSession,
    release: str,
    kind: str,
    made: dict[tuple[str, str], Both],
    request: pytest.FixtureRequest,
) -> None:
    """0.15.0 follows the option on copy-on-write tables, 1.2.0 on none, hudiidx on all."""
    table = written(spark, request.getfixturevalue(release), kind, made)
    at = table.times
    plain = changes(at[0], **{END: at[-2]})
    asked = {**plain, END_COLUMNS: "true"}
    if release == OLDEST:
        table.same(asked, plain)
    else:
        later = '"extra":null,'
        theirs = table.theirs(asked)
        assert theirs == table.theirs(plain) and all(later in row for row in theirs)
        assert table.ours(asked) == [row.replace(later, "") for row in theirs]


@pytest.mark.slow
def test_rows_are_the_same_with_compactions_and_without(
    spark: SparkSession, made: dict[tuple[str, str], Both], stock_1_2: Any
) -> None:
    """Rows of a compaction bear the times of the writes that they came by."""
    table = written(spark, stock_1_2, "MOR", made)
    for begin in table.times[:-1]:
        assert table.same_or_refused(changes(begin, **{SKIP_COMPACTION: "true"}))


@pytest.mark.slow
def test_base_files_alone_are_refused_by_the_older_name_with_which_stock_reads_logs(
    spark: SparkSession, made: dict[tuple[str, str], Both], stock_1_2: Any
) -> None:
    table = written(spark, stock_1_2, "MOR", made)
    assert table.theirs({VIEW: "read_optimized"}) == table.theirs({}) != table.theirs(BASE_ALONE)
    with pytest.raises(Exception, match=QUERY):
        table.ours({VIEW: "read_optimized"})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["COW", "MOR"])
def test_commits_whose_files_are_cleaned_are_read_or_refused_as_asked(
    spark: SparkSession, kind: str, stock_1_2: Any
) -> None:
    stock = stock_1_2
    name = f"options-cleaned-{kind}".lower()
    table = new(spark, stock, name, kind)
    stock.write(name=name, first=0, end=24, seed=2, operation="insert")
    for seed in (3, 4, 5):
        stock.write(name=name, first=0, end=20, seed=seed)
        if kind == "MOR":
            stock.compact(name=name)
    stock.clean(name=name)
    found = table.same_or_refused(changes("000", **{FALLBACK: "true"}))
    assert found is not None and len(found) == 24
    table.same_or_refused(changes("000", **{FALLBACK: "false"}))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["COW", "MOR"])
def test_columns_are_found_by_ids_or_by_names_as_asked(
    spark: SparkSession, kind: str, stock_1_2: Any
) -> None:
    name = f"options-renamed-{kind}".lower()
    table = new(spark, stock_1_2, name, kind, **{BY_ID: "true"})
    stock_1_2.write(name=name, first=0, end=24, seed=2, operation="insert")
    stock_1_2.alter(name=name, changes=["rename column rider to driver"])
    stock_1_2.write(name=name, first=4, end=12, seed=3, renames={"rider": "driver"})
    assert table.same_or_refused({BY_ID: "true"})
    assert table.same_or_refused({BY_ID: "false"})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["COW", "MOR"])
def test_values_of_partition_columns_are_those_of_paths_where_asked(
    spark: SparkSession, kind: str, stock_1_2: Any
) -> None:
    """Of texts, which paths have in another form."""
    stock = stock_1_2
    name = f"options-paths-{kind}".lower()
    days = timed("TimestampBasedKeyGenerator", "DATE_STRING", "yyyyMMdd")
    days["hoodie.keygen.timebased.input.dateformat"] = "yyyy-MM-dd HH:mm:ss"
    table = new(spark, stock, name, kind, **days)
    columns = ["concat('2024-03-0', id % 3 + 1, ' 10:00:00') as at"]
    stock.write(name=name, first=0, end=24, seed=2, operation="insert", columns=columns)
    table.same({OF_PATHS: "true"}, {OF_PATHS: "false"})
    table.same({OF_PATHS: "false"}, {OF_PATHS: "true"})


NUMBERS = {
    "milliseconds": ("EPOCHMILLISECONDS", "yyyyMMdd", "1709287200000 + (id % 3) * 86400000"),
    "milliseconds-dashes": ("EPOCHMILLISECONDS", "yyyy-MM-dd", "1709287200000 + (id % 3) * 86400000"),
    "seconds-slashes": ("UNIX_TIMESTAMP", "yyyy/MM/dd", "1709287200 + (id % 3) * 86400"),
}
DROP = "hoodie.datasource.write.drop.partition.columns"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["COW", "MOR"])
@pytest.mark.parametrize("of", NUMBERS)
def test_paths_made_of_numbers_are_stocks_texts_where_asked(
    spark: SparkSession, kind: str, of: str, stock_1_2: Any
) -> None:
    """Numbers that a key generator formats as times: the column is a text then, as in stock."""
    name = f"options-numbers-{of}-{kind}".lower()
    table = of_numbers(spark, stock_1_2, name, kind, of, "TimestampBasedKeyGenerator")
    stock_1_2.write(name=name, first=0, end=9, seed=3, columns=number_of(of))
    paths = {OF_PATHS: "true"}
    for options in (paths, changes("000", **paths)):
        table.same(options, {**options, OF_PATHS: "false"})
    wheres = ["at > '20240301'", "at = '2024-03-02'", "at in ('20240302', '2024/03/03')", "at is null"]
    stocks = stock_1_2.filtered(name=name, filters=wheres, options=paths, read_once=True)
    HudiIndex(spark, table.path).create(columns="*")
    rows = spark.read.format("hudiidx").options(**paths).load(str(table.path))
    assert [rows.where(w).count() for w in wheres] == [found["count"] for found in stocks]
    assert table.ours(paths) == table.theirs(paths)


@pytest.mark.slow
@pytest.mark.parametrize("of", NUMBERS)
def test_numbers_that_paths_alone_hold_are_stocks_texts(spark: SparkSession, of: str, stock_1_2: Any) -> None:
    name = f"options-dropped-{of}"
    table = of_numbers(spark, stock_1_2, name, "COW", of, "TimestampBasedKeyGenerator", **{DROP: "true"})
    assert table.ours({}) == table.theirs({})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["COW", "MOR"])
@pytest.mark.parametrize("of", NUMBERS)
def test_paths_that_a_custom_key_generator_made_of_numbers_are_numbers_or_null_where_stock_fails(
    spark: SparkSession, kind: str, of: str, stock_1_2: Any
) -> None:
    name = f"options-custom-{of}-{kind}".lower()
    table = of_numbers(spark, stock_1_2, name, kind, of, "CustomKeyGenerator")
    if of == "milliseconds":
        table.same({OF_PATHS: "true"}, {OF_PATHS: "false"})
    else:
        with pytest.raises(RuntimeError, match="cast"):
            table.theirs({OF_PATHS: "true"})
        assert all('"at":null' in row for row in table.ours({OF_PATHS: "true"}))


def of_numbers(
    spark: SparkSession, stock: Any, name: str, kind: str, of: str, generator: str, **more: str
) -> Both:
    """A table with rows whose partitions are made of numbers."""
    unit, form, _ = NUMBERS[of]
    table = new(spark, stock, name, kind, **timed(generator, unit, form), **more)
    stock.write(name=name, first=0, end=24, seed=2, operation="insert", columns=number_of(of))
    return table


def number_of(of: str) -> list[str]:
    return [f"cast({NUMBERS[of][2]} as long) as at"]


def timed(generator: str, unit: str, form: str) -> Options:
    """Options of a key generator that makes partitions of the times that numbers are."""
    field = "at:TIMESTAMP" if generator == "CustomKeyGenerator" else "at"
    return {
        "hoodie.datasource.write.partitionpath.field": field,
        "hoodie.datasource.write.keygenerator.class": f"org.apache.hudi.keygen.{generator}",
        "hoodie.keygen.timebased.timestamp.type": unit,
        "hoodie.keygen.timebased.output.dateformat": form,
        "hoodie.keygen.timebased.timezone": "UTC",
    }
