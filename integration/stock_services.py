"""Table services that stock Hudi is asked for: compactions, clusterings, cleans, rollbacks, restores."""

from collections.abc import Callable
from typing import Any

import hudifix
from stock_session import StockSession

PAYLOAD = "hoodie.datasource.write.payload.class"
DEFAULT_PAYLOAD = "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"
# Of a clean: it keeps the last version of each file group.
LAST_VERSIONS = {
    f"hoodie.{clean}.{key}": value
    for clean in ("clean", "cleaner")
    for key, value in (("policy", "KEEP_LATEST_FILE_VERSIONS"), ("fileversions.retained", "1"))
}


class StockServices(StockSession):
    """Requests that change no rows, but for what they roll back."""

    def op_clean_up(self, name: str, commits: int = 3) -> None:
        """Runs a clean that keeps the files of the last commits."""
        self.tables[name].clean(commits)

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
        """Rolls back all that completed after a savepoint."""
        table = self.tables[name]
        table.call(f"call rollback_to_savepoint(table => '{table.register()}', instant_time => '{to}')")

    def op_rebuild_metadata(self, name: str) -> None:
        """Deletes the metadata table, and makes it anew."""
        table = self.tables[name]
        named = table.register()
        table.call(f"call delete_metadata_table(table => '{named}')")
        table.call(f"call create_metadata_table(table => '{named}')")

    def op_roll_back_failed(self, name: str) -> None:
        """Rolls back what writes left that failed, as 0.15.0 knows it, and nothing else."""
        self._with_client(name, {}, lambda client: client.rollbackFailedWrites())

    def op_compact(self, name: str) -> None:
        self.tables[name].compact()

    def op_schedule_compaction(self, name: str) -> None:
        self.tables[name].schedule_compaction()

    def op_run_compaction(self, name: str) -> None:
        """Runs the compactions that are planned."""
        self.tables[name].run_compaction()

    def op_plan_clean(self, name: str) -> None:
        """Plans a clean of all but the last version of each file group, and does not run it."""
        service = self.j.org.apache.hudi.common.model.TableServiceType.CLEAN
        none = self.j.org.apache.hudi.common.util.Option.empty()
        self._with_client(name, LAST_VERSIONS, lambda client: client.scheduleTableService(none, service))

    def op_run_cleans(self, name: str) -> None:
        """Runs the cleans that are planned."""
        self._with_client(name, LAST_VERSIONS, lambda client: client.clean())

    def _with_client(self, name: str, options: dict[str, str], work: Callable[[Any], Any]) -> Any:
        client = self._client(self.tables[name], options)
        try:
            return work(client)
        finally:
            client.close()

    def _client(self, table: hudifix.Table, options: dict[str, str]) -> Any:
        resolver = self.j.org.apache.hudi.common.table.TableSchemaResolver(self.meta(table.path))
        if self.v1:
            avro, needed = resolver.getTableSchema(False).toAvroSchema(), {}
        else:
            avro, needed = resolver.getTableAvroSchema(False), {PAYLOAD: DEFAULT_PAYLOAD}
        return self.j.org.apache.hudi.DataSourceUtils.createHoodieClient(
            self.spark._jsc, avro.toString(), table.path, "t", {**needed, **table.opts, **options}
        )

    def op_log_compact(self, name: str) -> bool:
        """Merges blocks of each log into one; false where there is nothing to be done."""

        def compacted(client: Any) -> bool:
            planned = client.scheduleLogCompaction(self.j.org.apache.hudi.common.util.Option.empty())
            if planned.isPresent():
                client.logCompact(planned.get(), True)
            return bool(planned.isPresent())

        options = {"hoodie.log.compaction.enable": "true", "hoodie.log.compaction.blocks.threshold": "1"}
        return bool(self._with_client(name, options, compacted))

    def op_clean(self, name: str) -> None:
        self.tables[name].clean(1)
