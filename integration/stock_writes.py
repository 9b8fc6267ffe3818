"""What stock Hudi is asked to do to tables: writes, services, and changes of what they are."""

import re
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import hudifix
from pyspark.sql.functions import expr
from stock_session import StockSession

MANY = {"hoodie.keep.min.commits": "40", "hoodie.keep.max.commits": "60"}
NUMBERS = {"SIX": 6, "EIGHT": 8, "NINE": 9}


class StockWrites(StockSession):
    """Requests that change a table."""

    def op_new(self, name: str, kind: str, options: dict[str, str]) -> str:
        """A table to write; its folder."""
        self.tables[name] = hudifix.Table(self, name, kind, **MANY, **options)
        return str(self.tables[name].path)

    def op_create_table(
        self,
        name: str,
        columns: str,
        partition: str,
        properties: dict[str, str],
        kind: str = "COW",
        options: dict[str, str] | None = None,
    ) -> str:
        """A table made by SQL, which keeps properties that options of a write do not; its folder.

        ``kind`` and ``options`` are those of writes by DataFrames.
        """
        table = self.tables[name] = hudifix.Table(self, name, kind, **(options or {}))
        table.first = False
        if "primaryKey" not in properties:  # or each statement would name a key of the table
            del table.opts["hoodie.datasource.write.recordkey.field"]
        told = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        self.spark.sql(
            f"create table {table.table_name()} ({columns}) using hudi partitioned by ({partition}) "
            f"tblproperties ({told}) location '{table.path}'"
        )
        return str(table.path)

    def op_statement(self, name: str, sql: str, **settings: str) -> None:
        """A statement of SQL with the table's name for @T."""
        table = self.tables[name]
        table.call(sql.replace("@T", table.table_name()), **settings)

    def op_begin(self, name: str, sql: str, **settings: str) -> None:
        """As ``op_statement``, until the write computes ``held(text)``, which ``op_finish`` lets go on."""
        gate = Path(tempfile.mkdtemp())

        def held(text: str) -> str:
            (gate / "begun").touch()
            while not (gate / "open").exists():
                time.sleep(0.05)
            return text

        self.spark.udf.register("held", held)
        done = ThreadPoolExecutor(1).submit(self.op_statement, name, sql, **settings)
        self.begun[name] = gate, done
        while not (gate / "begun").exists() and not done.done():
            time.sleep(0.05)

    def op_finish(self, name: str) -> None:
        """Lets the statement of ``op_begin`` go on, to its end."""
        gate, done = self.begun.pop(name)
        (gate / "open").touch()
        done.result()

    def op_adopt(self, name: str, path: str, kind: str, options: dict[str, str] | None = None) -> None:
        """A table that another writer made, to be written further."""
        if name in self.tables:
            return
        table = hudifix.Table(self, name, kind, **{**MANY, **(options or {})})
        table.path, table.first = path, False
        self.tables[name] = table

    def op_write(
        self,
        name: str,
        first: int,
        end: int,
        seed: int,
        operation: str = "upsert",
        parts: Sequence[str] = hudifix.PARTS,
        deleted: str | None = None,
        only: str = "true",
        nulls: dict[str, str] | None = None,
        filler: str = "null",
        marker: str = "{} as _hoodie_is_deleted",
        columns: Sequence[str] = (),
        narrow: bool = False,
        renames: dict[str, str] | None = None,
        retyped: dict[str, str] | None = None,
        marks: dict[str, str] | None = None,
        **options: str,
    ) -> None:
        """Rows ``first`` to ``end`` (exclusive); the data follow from row number and seed.

        Row n is in partition ``parts[n % len(parts)]``; ``deleted`` is SQL over the row number, which
        ``marker`` makes a column of, ``only`` for what is written at all, ``nulls`` by column for what is
        null, or in texts the SQL ``filler``. ``columns`` are more, as SQL over row number and ``{when}``, the
        ordering value's SQL; ``narrow`` makes an int of column ts; ``retyped`` gives columns other types,
        then ``renames`` other names, one after the other; ``marks`` are types of Hudi's own, by column.
        """
        when = f"id + {seed} * 1000"
        more = [c.format(when=when, seed=seed) for c in columns]
        if deleted:
            more.append(marker.format(deleted))
        rows = hudifix.mk(self, first, end, seed, when, parts, more)
        if narrow:
            rows = rows.withColumn("ts", rows.ts.cast("int"))
        number = "cast(substr(id, 2) as int)"
        for column, where in (nulls or {}).items():
            value = filler if dict(rows.dtypes)[column] == "string" else "null"
            condition = re.sub(r"\bid\b", number, where)
            rows = rows.withColumn(column, expr(f"case when {condition} then {value} else {column} end"))
        rows = rows.where(re.sub(r"\bid\b", number, only))
        for column, to in (retyped or {}).items():
            rows = rows.withColumn(column, rows[column].cast(to))
        for column, to in (renames or {}).items():
            rows = rows.withColumnRenamed(column, to)
        for column, mark in (marks or {}).items():
            rows = rows.withMetadata(column, {"hudi_type": mark})
        self.tables[name].write(rows, operation, **options)

    def op_write_sql(self, name: str, sql: str, operation: str = "upsert", **options: str) -> None:
        """The rows of a query."""
        self.tables[name].write(self.spark.sql(sql), operation, **options)

    def op_write_records(
        self,
        name: str,
        first: int,
        end: int,
        seed: int,
        operations: dict[str, str],
        operation: str = "upsert",
    ) -> None:
        """As ``op_write``, by the write client: each record bears the first operation whose SQL over the
        row number ``n`` holds, as those of Flink's writer do."""
        numbers = self.spark.range(first, end).withColumnRenamed("id", "n")
        of: dict[int, str] = {}
        for name_of, where in operations.items():
            for row in numbers.where(where).collect():
                of.setdefault(row[0], name_of)
        rows = hudifix.mk(self, first, end, seed, f"id + {seed} * 1000")
        self.tables[name].write_records(rows, of.__getitem__, operation)

    def op_write_at_once(self, name: str, batches: list[dict[str, Any]]) -> list[str | None]:
        """Arguments of ``op_write``, each in a thread of its own; per batch None or the error."""

        return self._at_once(lambda batch: self.op_write(name, **batch), batches)

    def _at_once(
        self, write: Callable[[dict[str, Any]], None], batches: list[dict[str, Any]]
    ) -> list[str | None]:
        def attempt(batch: dict[str, Any]) -> str | None:
            try:
                write(batch)
            except Exception as e:
                return str(e)
            return None

        with ThreadPoolExecutor(len(batches)) as pool:
            return list(pool.map(attempt, batches))

    def op_put(
        self,
        name: str,
        first: int,
        end: int,
        seed: int,
        when: int,
        operation: str = "upsert",
        deleted: str | None = None,
        added: Sequence[str] = (),
        widened: bool = False,
        narrow: bool = False,
        blank: str | None = None,
        parts: Sequence[str] = hudifix.PARTS,
        marks: dict[str, str] | None = None,
        **options: str,
    ) -> None:
        """As ``op_write``, with ordering values that follow from ``when``, so that rows may be late.

        ``added`` are more columns, as SQL over the row number; ``widened`` makes a long of column qty,
        ``narrow`` an int of column ts; ``blank`` is a column that is null in every other row.
        """
        columns = [*([f"{deleted} as _hoodie_is_deleted"] if deleted else []), *added]
        rows = hudifix.mk(self, first, end, seed, f"id + {when} * 1000", parts, columns)
        if widened:
            rows = rows.withColumn("qty", rows.qty.cast("long"))
        if narrow:
            rows = rows.withColumn("ts", rows.ts.cast("int"))
        if blank:
            rows = rows.withColumn(blank, expr(f"case when n % 2 = 0 then null else {blank} end"))
        for column, mark in (marks or {}).items():
            rows = rows.withMetadata(column, {"hudi_type": mark})
        self.tables[name].write(rows, operation, **options)

    def op_put_at_once(self, name: str, batches: list[dict[str, Any]]) -> list[str | None]:
        """As ``op_write_at_once``, of arguments of ``op_put``."""
        return self._at_once(lambda batch: self.op_put(name, **batch), batches)

    def op_merge_into(self, name: str, first: int, end: int, seed: int, when: int) -> None:
        """Changes one column of the rows that are there: a log block of the changed columns alone."""
        partial = "hoodie.spark.sql.merge.into.partial.updates"
        table = self.tables[name]
        hudifix.mk(self, first, end, seed, f"id + {when} * 1000").createOrReplaceTempView("src")
        table.call(
            f"merge into {table.register()} t using (select id, city, ts, rider from src) s on t.id = s.id "
            "when matched then update set rider = concat(s.rider, '-p'), ts = s.ts",
            **{partial: "true", "hoodie.embed.timeline.server": "false"},
        )

    def op_overwrite(self, name: str, first: int, end: int, seed: int) -> None:
        """As Spark's mode overwrite: the folder goes, and the table is made anew in its place."""
        self.tables[name].first = True
        self.op_write(name, first, end, seed, "insert")

    def op_fail(
        self, name: str, first: int, end: int, seed: int, parts: Sequence[str] = hudifix.PARTS
    ) -> None:
        """A write that leaves files behind and does not commit."""
        self.tables[name].fail(hudifix.mk(self, first, end, seed, f"id + {seed} * 1000", parts))

    def op_alter(self, name: str, changes: list[str]) -> None:
        """Changes of the table's columns, each what stands behind ALTER TABLE and its name."""
        table = self.tables[name]
        allowed = {
            "hoodie.schema.on.read.enable": "true",
            "hoodie.datasource.write.schema.allow.auto.evolution.column.drop": "true",
        }
        for change in changes:
            table.call(f"alter table {table.register()} {change}", **allowed)
        if not self.v1:  # 0.15.0 takes rows of renamed columns from batches that it has passed already
            self.spark.conf.set("spark.sql.parquet.enableVectorizedReader", "false")

    def op_version(self, name: str) -> int:
        """Table version as stock reads it."""
        return int(self.meta(self.tables[name].path).getTableConfig().getTableVersion().versionCode())

    def op_migrate(self, name: str, version: str) -> None:
        """Upgrades or downgrades the table, by stock's own procedure; ``version`` such as EIGHT."""
        deed = "downgrade_table" if self.op_version(name) > NUMBERS[version] else "upgrade_table"
        table = self.tables[name]
        self.spark.sql(f"call {deed}(table => '{table.register()}', to_version => '{version}')").collect()
