"""What stock Hudi is asked of tables: rows of queries of each kind, listings, and its own options."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import hudifix
from stock_session import StockSession

WRITES = ("commit", "deltacommit", "replacecommit")


class StockReads(StockSession):
    """Requests that leave a table as it is."""

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

    def op_reader_options(self) -> list[str]:
        """The names of all options of the data source's reader, older ones too."""
        options = self.j.java.lang.Class.forName("org.apache.hudi.DataSourceReadOptions$")
        module = options.getField("MODULE$").get(None)
        getters = [m for m in options.getMethods() if m.getReturnType().getSimpleName() == "ConfigProperty"]
        found = [m.invoke(module, None) for m in getters if m.getParameterCount() == 0]
        return sorted({o.key() for o in found} | {n for o in found for n in o.getAlternatives()})

    def op_table_functions(self) -> list[str]:
        """The names of the table functions that stock's extension brings."""
        found = self.spark._jsparkSession.sessionState().tableFunctionRegistry().listFunction()
        names = [found.apply(i).funcName() for i in range(found.size())]
        return sorted(name for name in names if name.startswith("hudi"))

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

    def op_texts(
        self, name: str, as_of: str | None = None, options: dict[str, str] | None = None
    ) -> list[str]:
        """The rows of a snapshot query as the fixtures store them."""
        all_options = {**(options or {}), **({"as.of.instant": as_of} if as_of else {})}
        return list(hudifix.answer(hudifix.read(self, self.tables[name].path, **all_options))[0])

    def op_columns(self, name: str, options: dict[str, str] | None = None) -> list[list[str]]:
        """Names and types of a query's columns."""
        return [list(c) for c in hudifix.read(self, self.tables[name].path, **(options or {})).dtypes]

    def op_as_of(self, name: str, moment: str) -> list[str]:
        """The rows of SQL's time travel as the fixtures store them."""
        table = self.tables[name].register()
        return list(hudifix.answer(self.spark.sql(f"select * from {table} timestamp as of '{moment}'"))[0])

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

    def op_completions(self, name: str) -> list[str]:
        """Times of completed writes, as ranges have them: of completion, before version 8 of request."""
        table = self.tables[name]
        done = [i for i in table.instants() if i["state"] == "COMPLETED" and i["action"] in WRITES]
        return sorted(i["completion" if self.v1 else "requested"] for i in done)

    def op_changes(self, name: str, more: dict[str, str] | None = None) -> Any:
        """Incremental queries after each completed instant: ``begin``, count and checksums, or ``error``."""
        return [{"begin": b, **self._range(name, b, more or {})} for b in self.op_completions(name)[:-1]]

    def op_ranges(self, name: str) -> Any:
        """The same from each completed instant, or the first, to each later one: with ``end``."""
        times = ["000", *self.op_completions(name)]
        return [
            {"begin": b, "end": e, **self._range(name, b, {"hoodie.datasource.read.end.instanttime": e})}
            for b, e in combinations(times, 2)
        ]

    def _range(self, name: str, begin: str, more: dict[str, str]) -> Any:
        options = {
            "hoodie.datasource.query.type": "incremental",
            "hoodie.datasource.read.begin.instanttime": begin,
            **more,
        }
        return hudifix.attempt(
            lambda: hudifix.answer(hudifix.read(self, self.tables[name].path, **options))[1]
        )

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
