"""A table that hudiidx writes beside stock Hudi, and what it must hold."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from stock_hudi import OLDEST, RELEASES, each

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "make"))

import hudifix

# The releases of whose versions we write tables.
VERSIONS = {name: r.table_version for name, r in RELEASES.items() if r.table_version in (6, 9)}
# What takes a minute and has a sibling on the other version: `make test` runs it on one version alone.
IN_SHORT = each(of=VERSIONS)
OLD_IN_SHORT = each(of=VERSIONS, short=[OLDEST])
OURS = {
    "hoodie.index.class": "hudiidx.hudi.RecordIndex",
    "hoodie.metadata.enable": "false",
    "hoodie.datasource.write.recordkey.field": "id",
}
LOG_INSERTS = {"hudiidx.write.log.inserts": "true"}
Row = dict[str, Any]


class Written:
    """A table that we write, what it must hold by key, and stock Hudi to ask."""

    def __init__(self, spark: SparkSession, stock: Any, version: int, path: Path, **options: str) -> None:
        self.spark, self.stock, self.path, self.rows = spark, stock, path, dict[str, Row]()
        self.past = dict[str, tuple[Row, ...]]()  # by key all that it was
        self.name = path.name
        self.options = {
            "hoodie.table.name": "t",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.partitionpath.field": "city",
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.write.table.version": str(version),
            "hudiidx.write.create": "true",
            **options,
        }

    def make(self, first: int, end: int, seed: int, when: int, columns: list[str] | None = None) -> DataFrame:
        return hudifix.mk(self, first, end, seed, f"id + {when} * 1000", cols=columns)

    def save(self, rows: DataFrame, operation: str = "upsert", **options: str) -> None:
        all_options = {**self.options, "hoodie.datasource.write.operation": operation, **options}
        rows.write.format("hudiidx").options(**all_options).mode("append").save(str(self.path))

    def upsert(self, rows: DataFrame) -> None:
        self.save(rows)
        self.expect(rows)

    def expect(self, rows: DataFrame) -> None:
        """What event-time ordering makes of the rows."""
        for row in rows.collect():
            old = self.rows.get(row.id)
            if old is None or row.ts >= old["ts"]:
                self.rows[row.id] = row.asDict()
                self.past[row.id] = (*self.past.get(row.id, ()), row.asDict())

    def expect_only(self, rows: DataFrame, cities: set[str] | None = None) -> None:
        """Once the rows took the place of all, or of those of some cities."""
        kept = {} if cities is None else {k: r for k, r in self.rows.items() if r["city"] not in cities}
        self.rows, self.past = kept, {k: self.past[k] for k in kept}
        self.expect(rows)

    def overwrite(self, rows: DataFrame, **options: str) -> None:
        """By mode: the whole table, unless an option says that it is dynamic."""
        all_options = {**self.options, **options}
        rows.write.format("hudiidx").options(**all_options).mode("overwrite").save(str(self.path))
        dynamic = options.get("partitionOverwriteMode") == "dynamic"
        cities = {r.city for r in rows.select("city").distinct().collect()}
        self.expect_only(rows, cities if dynamic else None)

    def delete(self, first: int, end: int, **options: str) -> None:
        self.save(self.make(first, end, 0, 0).select("id", "city"), "delete", **options)
        for n in range(first, end):
            self.rows.pop(f"k{n:06d}", None)

    def state(self) -> tuple[dict[str, Row], dict[str, tuple[Row, ...]]]:
        return dict(self.rows), dict(self.past)

    def restore(self, state: tuple[dict[str, Row], dict[str, tuple[Row, ...]]]) -> None:
        self.rows, self.past = state

    def expected(self, found: dict[str, Row], columns: list[str]) -> dict[str, Row]:
        """What the table must hold. A row that came after a delete, and is older by its ordering value than
        one from before it, loses to that in stock Hudi once a compaction is done that was scheduled before
        the delete: logs are merged with one another first, then with the base file.
        """

        def either(key: str, row: Row) -> Row:
            later = [p for p in self.past.get(key, ()) if p["ts"] > row["ts"]]
            known = [{c: r.get(c) for c in columns} for r in (row, *later)]
            return found[key] if found.get(key) in known else known[0]

        return {key: either(key, row) for key, row in self.rows.items()}

    def ours(self, **options: str) -> DataFrame:
        return self.spark.read.format("hudiidx").options(**options).load(str(self.path))

    def adopt(self, **options: str) -> None:
        self.stock.adopt(name=self.name, path=str(self.path), kind="MOR", options={**OURS, **options})

    def assert_right(self) -> None:
        """Our rows are what was written, and stock's are ours, meta columns included."""
        frame = self.ours()
        columns = [c for c in frame.columns if not c.startswith("_hoodie_")]
        rows = [r.asDict() for r in frame.select(columns).collect()]
        found = {r["id"]: r for r in rows}
        assert found == self.expected(found, columns) and len(rows) == len(found)
        texts = list(hudifix.answer(frame)[0])
        # Stock looks for its metadata table, which is not there.
        assert self.stock.texts(name=self.name, options={"hoodie.metadata.enable": "true"}) == texts


def assert_same_history(table: Written) -> None:
    """Time travel to each instant gives stock's rows, and so do incremental queries from each."""
    stock, name = table.stock, table.name
    for then in stock.travel(name=name):
        found = hudifix.answer(table.ours(**{"as.of.instant": then["as_of"]}))[1]
        assert {k: then.get(k) for k in found} == found, then
    for change in stock.changes(name=name):
        options = {
            "hoodie.datasource.query.type": "incremental",
            "hoodie.datasource.read.begin.instanttime": change["begin"],
        }
        found = hudifix.answer(table.ours(**options))[1]
        assert {k: change.get(k) for k in found} == found, change


def fail_last_write(table: Written) -> None:
    """Leaves the table as a writer does that ends before its last step: files and markers."""
    hoodie = table.path / ".hoodie"
    timeline = hoodie / "timeline" if (hoodie / "timeline").exists() else hoodie
    done = max(timeline.glob("*.deltacommit"), key=lambda f: f.name)
    instant = done.name.split(".")[0].split("_")[0]
    v6 = timeline == hoodie
    done.unlink()
    logs = [
        f for f in table.path.glob("*/.*.log.*") if f.stat().st_size and instant.encode() in f.read_bytes()
    ]
    leave_traces(hoodie, instant, logs, "APPEND" if v6 else "CREATE")
    leave_traces(hoodie, instant, table.path.glob(f"*/*_{instant}.parquet"), "CREATE")


def leave_traces(hoodie: Path, instant: str, files: Iterable[Path], kind: str) -> None:
    """Markers of the files and a heartbeat, as a writer of ours has them until its end."""
    for file in files:
        marker = hoodie / ".temp" / instant / file.parent.name / f"{file.name}.marker.{kind}"
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    (hoodie / ".heartbeat").mkdir(exist_ok=True)
    (hoodie / ".heartbeat" / instant).write_text("0123456789abcdef")
