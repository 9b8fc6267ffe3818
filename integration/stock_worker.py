"""A stock Hudi in a process of its own: one bundle a JVM. Takes JSON requests on stdin, one a line.

Usage: stock_worker.py <hudi version> <jars> <work folder>; jars separated by colons, the bundle first
Each request is {"op": name, ...arguments}; each answer is {"ok": value} or {"error": text}.
"""

import json
import os
import re
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "make"))

import hudifix
from pyspark.sql import SparkSession
from pyspark.sql.functions import expr

JVM = " ".join(
    (
        "--add-opens=java.base/java.util.stream=ALL-UNNAMED",
        "-Duser.timezone=UTC",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
    )
)
MANY = {"hoodie.keep.min.commits": "40", "hoodie.keep.max.commits": "60"}


class Stock(hudifix.Env):
    """The fixtures' helpers over a small session."""

    def __init__(self, version: str, jars: str, work: str, memory: str) -> None:
        self.version, self.work, self.v1 = version, work, version.startswith("1.")
        self.tables: dict[str, hudifix.Table] = {}
        self.streamed: dict[str, Counter[str]] = {}
        self.spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.driver.memory", memory)
            .config("spark.jars", jars.replace(":", ","))
            .config("spark.driver.extraClassPath", jars)
            .config("spark.driver.extraJavaOptions", JVM)
            .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
            .config("spark.sql.extensions", "org.apache.spark.sql.hudi.HoodieSparkSessionExtension")
            .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.hudi.catalog.HoodieCatalog")
            .config("spark.hadoop.parquet.avro.write-old-list-structure", "false")
            .config("spark.sql.session.timeZone", "UTC")
            # Dates before 1582 as they are.
            .config("spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED")
            .config("spark.sql.parquet.datetimeRebaseModeInWrite", "CORRECTED")
            .config("spark.sql.avro.datetimeRebaseModeInRead", "CORRECTED")
            .config("spark.sql.avro.datetimeRebaseModeInWrite", "CORRECTED")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.default.parallelism", "2")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.codegen.wholeStage", "false")
            .config("spark.sql.warehouse.dir", f"{work}/warehouse")
            .getOrCreate()
        )
        self.spark.sparkContext.setLogLevel("OFF")
        self.j = self.spark._jvm
        self.jc = self.j.java.util.stream.Collectors

    def op_new(self, name: str, kind: str, options: dict[str, str]) -> str:
        """A table to write; its folder."""
        self.tables[name] = hudifix.Table(self, name, kind, **MANY, **options)
        return str(self.tables[name].path)

    def op_create_table(self, name: str, columns: str, partition: str, properties: dict[str, str]) -> str:
        """A table made by SQL, which keeps properties that options of a write do not; its folder."""
        table = self.tables[name] = hudifix.Table(self, name)
        table.first = False
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

    def op_operations(
        self, name: str, options: dict[str, str] | None = None
    ) -> list[list[str | None]] | None:
        """Key and operation of each row of a snapshot query; none where rows do not bear operations."""
        rows = hudifix.read(self, self.tables[name].path, **(options or {}))
        if "_hoodie_operation" not in rows.columns:
            return None
        return sorted([r[0], r[1]] for r in rows.select("_hoodie_record_key", "_hoodie_operation").collect())

    def op_filtered(
        self,
        name: str,
        filters: Sequence[str],
        options: dict[str, str] | None = None,
        read_once: bool = False,
    ) -> Any:
        """For each filter count and checksums of a snapshot query with it; data skipping off unless given.

        With ``read_once`` the snapshot is read whole, once, and filtered in memory.
        """
        all_options = {"hoodie.enable.data.skipping": "false", **(options or {})}
        rows = hudifix.read(self, self.tables[name].path, **all_options)
        if read_once:
            rows = rows.cache()
        try:
            return [hudifix.answer(rows.where(where))[1] for where in filters]
        finally:
            if read_once:
                rows.unpersist()

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

    def op_reader_options(self) -> list[str]:
        """The names of all options of the data source's reader, older ones too."""
        options = self.j.java.lang.Class.forName("org.apache.hudi.DataSourceReadOptions$")
        module = options.getField("MODULE$").get(None)
        getters = [m for m in options.getMethods() if m.getReturnType().getSimpleName() == "ConfigProperty"]
        found = [m.invoke(module, None) for m in getters if m.getParameterCount() == 0]
        return sorted({o.key() for o in found} | {n for o in found for n in o.getAlternatives()})

    def op_groups(self, name: str) -> Any:
        """A snapshot query: checksum of the data, and per file group its partition, file id and keys."""
        path = self.tables[name].path
        rows = hudifix.read(self, path)
        groups: dict[tuple[str, str], list[str]] = {}
        meta = ("_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name")
        for key, partition, file in rows.select(*meta).collect():
            groups.setdefault((partition, file.split("_")[0]), []).append(key)
        found = [[partition, file, sorted(keys)] for (partition, file), keys in groups.items()]
        found.sort(key=lambda group: group[::2])
        return {"data": hudifix.answer(rows)[1]["checksum_data"], "groups": found}

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
        self.tables[name].write(rows, operation, **options)

    def op_put_at_once(self, name: str, batches: list[dict[str, Any]]) -> list[str | None]:
        """As ``op_write_at_once``, of arguments of ``op_put``."""
        return self._at_once(lambda batch: self.op_put(name, **batch), batches)

    def op_clean_up(self, name: str, commits: int = 3) -> None:
        """Runs a clean that keeps the files of the last commits."""
        self.tables[name].clean(commits)

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

    def op_create_index(self, name: str, index: str, columns: str) -> None:
        """Makes an index of the metadata table, by what stands behind the table's name in CREATE INDEX."""
        table = self.tables[name]
        lock = "org.apache.hudi.client.transaction.lock.InProcessLockProvider"
        table.call(
            f"create index {index} on {table.register()} {columns}", **{"hoodie.write.lock.provider": lock}
        )

    def op_cluster(self, name: str, op: str = "scheduleAndExecute") -> None:
        """Plans a clustering and runs it, or one of these."""
        table = self.tables[name]
        table.call(f"call run_clustering(table => '{table.register()}', op => '{op}')")

    def op_roll_back(self, name: str, even_only: bool = False) -> None:
        """Takes the last completed instant back."""
        table = self.tables[name]
        *before, last = table.last()
        if not before and not even_only:
            raise RuntimeError("the only write stays: without one nothing tells the table's columns")
        table.call(f"call rollback_to_instant(table => '{table.register()}', instant_time => '{last}')")

    def op_savepoint(self, name: str) -> str:
        """Saves the table as it is; the instant to restore it to."""
        table = self.tables[name]
        instant = str(table.last()[-1])
        table.call(f"call create_savepoint(table => '{table.register()}', commit_time => '{instant}')")
        return instant

    def op_restore(self, name: str, to: str) -> None:
        """Takes back all that completed after a savepoint."""
        table = self.tables[name]
        table.call(f"call rollback_to_savepoint(table => '{table.register()}', instant_time => '{to}')")

    def op_overwrite(self, name: str, first: int, end: int, seed: int) -> None:
        """As Spark's mode overwrite: the folder goes, and the table is made anew in its place."""
        self.tables[name].first = True
        self.op_write(name, first, end, seed, "insert")

    def op_rebuild_metadata(self, name: str) -> None:
        """Deletes the metadata table, and makes it anew."""
        table = self.tables[name]
        named = table.register()
        table.call(f"call delete_metadata_table(table => '{named}')")
        table.call(f"call create_metadata_table(table => '{named}')")

    def op_texts(
        self, name: str, as_of: str | None = None, options: dict[str, str] | None = None
    ) -> list[str]:
        """The rows of a snapshot query as the fixtures store them."""
        all_options = {**(options or {}), **({"as.of.instant": as_of} if as_of else {})}
        return list(hudifix.answer(hudifix.read(self, self.tables[name].path, **all_options))[0])

    def op_values(self, name: str, column: str) -> list[str]:
        """Key, n and a column of a snapshot query's rows, as Python prints them."""
        rows = hudifix.read(self, self.tables[name].path).select("id", "n", column).collect()
        return sorted(str(tuple(row)) for row in rows)

    def op_marks(self, name: str) -> dict[str, str]:
        """The types of Hudi's own that columns of a snapshot query bear."""
        schema = hudifix.read(self, self.tables[name].path).schema
        return {f.name: f.metadata["hudi_type"] for f in schema if "hudi_type" in f.metadata}

    def op_completed(self, name: str) -> list[str]:
        """The instants of the timeline's completed writes."""
        return list(map(str, self.tables[name].last()))

    def op_changes(self, name: str, more: dict[str, str] | None = None) -> Any:
        """Incremental queries after each completed instant: ``begin``, count and checksums, or ``error``."""
        table = self.tables[name]
        done = [i for i in table.instants() if i["state"] == "COMPLETED" and i["action"] in WRITES]
        begins = sorted(i["completion" if self.v1 else "requested"] for i in done)[:-1]

        def rows(begin: str) -> Any:
            options = {
                "hoodie.datasource.query.type": "incremental",
                "hoodie.datasource.read.begin.instanttime": begin,
                **(more or {}),
            }
            return hudifix.attempt(lambda: hudifix.answer(hudifix.read(self, table.path, **options))[1])

        return [{"begin": b, **rows(b)} for b in begins]

    def op_change_data(self, name: str, options: dict[str, str]) -> Any:
        """The rows of a query of change data, each ``[op, ts_ms, before, after]``, or ``error``."""
        asked = {
            "hoodie.datasource.query.type": "incremental",
            "hoodie.datasource.query.incremental.format": "cdc",
            **options,
        }

        def rows() -> Any:
            found = hudifix.read(self, self.tables[name].path, **asked)
            assert found.columns == ["op", "ts_ms", "before", "after"]
            return {"rows": [list(r) for r in found.collect()]}

        return hudifix.attempt(rows)

    def op_stream(self, name: str, columns: list[str], options: dict[str, str] | None = None) -> list[str]:
        """What a stream has read since the last call, all in one batch: rows as JSON, in order."""
        out = f"{self.work}/streams/{name}/rows"
        query = (
            self.spark.readStream.format("hudi")
            .options(**(options or {}))
            .load(str(self.tables[name].path))
            .select(columns)
            .writeStream.format("parquet")
            .option("checkpointLocation", f"{self.work}/streams/{name}/checkpoint")
            .trigger(once=True)
            .start(out)
        )
        query.awaitTermination()
        rows = Counter(self.spark.read.parquet(out).toJSON().collect())
        new, self.streamed[name] = rows - self.streamed.get(name, Counter()), rows
        return sorted(new.elements())

    def op_travel(self, name: str, options: dict[str, str] | None = None) -> Any:
        """The snapshot query as of each completed instant: count and checksums, or ``error``."""
        table = self.tables[name]

        def rows(instant: str) -> Any:
            as_of = {"as.of.instant": instant, **(options or {})}
            return hudifix.attempt(lambda: hudifix.answer(hudifix.read(self, table.path, **as_of))[1])

        return [{"as_of": i, **rows(i)} for i in table.last()]

    def op_fail(self, name: str, first: int, end: int, seed: int) -> None:
        """A write that leaves files behind and does not commit."""
        self.tables[name].fail(hudifix.mk(self, first, end, seed, f"id + {seed} * 1000"))

    def op_compact(self, name: str) -> None:
        self.tables[name].compact()

    def op_schedule_compaction(self, name: str) -> None:
        self.tables[name].schedule_compaction()

    def op_clean(self, name: str) -> None:
        self.tables[name].clean(1)

    def op_listing(self, name: str, metadata_table: bool) -> Any:
        """Partitions, files and views as the fixtures store them."""
        return hudifix.listing(self, self.tables[name].path, metadata_table)

    def op_rows(self, name: str, options: dict[str, str] | None = None) -> Any:
        """Count and checksums of a snapshot query."""
        return hudifix.answer(hudifix.read(self, self.tables[name].path, **(options or {})))[1]

    def op_sums(self, name: str, sums: list[str]) -> list[str]:
        """Aggregates of a snapshot query."""
        row = hudifix.read(self, self.tables[name].path).selectExpr(*sums).first()
        return [str(v) for v in row]

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


WRITES = ("commit", "deltacommit", "replacecommit")
NUMBERS = {"SIX": 6, "EIGHT": 8, "NINE": 9}


def main() -> None:
    """Answers requests until stdin ends."""
    version, jars, work, memory = sys.argv[1:5]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what Spark and Hive print goes to stderr
    stock = Stock(version, jars, work, memory)
    print(json.dumps({"ok": version}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"ok": getattr(stock, "op_" + request.pop("op"))(**request)}
        except Exception:
            told = traceback.format_exc()
            causes = "\n".join(line for line in told.splitlines() if re.match(r"(Caused by)?: ", line))
            answer = {"error": f"{told[-3000:]}\n{causes[:1500]}"}
        print(json.dumps(answer), file=answers, flush=True)
    stock.spark.stop()


if __name__ == "__main__":
    main()
