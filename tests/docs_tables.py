"""The tables that the code of docs/ talks about: trips with everything that the pages name, small."""

import shutil
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.functions import expr

ROWS = 200
OPTIONS = {
    "hoodie.table.name": "trips",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.datasource.write.precombine.field": "ts",
}
COLUMNS = (
    "element_at(array('trip-17', 'trip-4711', 'k1', 'k2', 'id-17'), cast(id + 1 as int)) as named",
    "element_at(array('oslo', 'sf', 'lima', 'nyc'), cast(id % 4 + 1 as int)) as city",
    "timestamp'2026-03-01 00:00:00' + make_interval(0, 0, 0, 0, cast(id as int), 0, 0) as ts",
    "round(id * 7 % 100, 1) as fare",
    "cast(id % 50 as int) as qty",
    "round(id % 9 + 0.5, 2) as price",
    "concat('rider-', id % 20) as rider",
    "named_struct('city', concat('city-', id % 3)) as addr",
    "to_json(named_struct('city', concat('city-', id % 3))) as note",
)


class DocsTables:
    """Makes the tables once, and a copy of them for each page: a table has no absolute paths in it."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder = spark, folder
        rows = spark.range(ROWS).selectExpr("id as n", *COLUMNS)
        rows = rows.selectExpr("coalesce(named, concat('t-', n)) as id", "*").drop("named", "n")
        self._rows = rows
        made = folder / "made"
        trips, changed = made / "trips", made / "trips_mor"
        self._write(rows, trips, "bulk_insert")
        self._write(rows.select("id", "city", "ts", "fare"), made / "fares", "bulk_insert")
        shutil.copytree(trips, changed)
        self._write(rows.where("qty < 10").withColumn("fare", expr("fare + 1")), changed, "upsert")
        timeline = changed / ".hoodie" / "timeline"
        instants = sorted({f.name[:17] for f in timeline.iterdir() if f.is_file()})
        self.first_instant, self.last_instant = instants[0], instants[-1]
        rows.where("qty < 5").write.parquet(str(made / "incoming"))

    def _write(self, rows: Any, path: Path, operation: str) -> None:
        options = {**OPTIONS, "hoodie.datasource.write.operation": operation}
        rows.write.format("hudiidx").options(**options).mode("append").save(str(path))

    def fresh(self, page: str, with_tables: bool) -> Path:
        """A folder of the page's own, where its /data is."""
        data = self._folder / page / "data"
        shutil.rmtree(data.parent, ignore_errors=True)
        if not with_tables:
            data.parent.mkdir(parents=True)
            return data
        shutil.copytree(self._folder / "made", data)
        shutil.copytree(data / "trips", data / "orders")
        self._register(data / "trips")
        return data

    def names(self, data: Path) -> dict[str, Any]:
        """What pages take for granted beside the session: rows to write or tag, and a stream of them."""
        if not (data / "incoming").exists():
            return {}
        df = self._spark.read.parquet(str(data / "incoming"))
        changes = df.selectExpr("*", "qty % 2 = 0 as gone")
        changes.createOrReplaceTempView("changes")
        changes.where("gone").select("id").createOrReplaceTempView("gone")
        incoming = self._spark.readStream.schema(df.schema).parquet(str(data / "incoming"))
        return {
            "df": df.selectExpr("*", "id as trip_id"),
            "events": incoming.selectExpr("*", "id as trip_id"),
            "options": OPTIONS,
            "path": str(data / "trips"),
        }

    def _register(self, table: Path) -> None:
        """As `db.trips` of the session's metastore, of provider hudi: what Hudi's sync leaves there."""
        spark = self._spark
        spark.sql("CREATE DATABASE IF NOT EXISTS db")
        spark.sql("DROP TABLE IF EXISTS db.trips")
        fields = ", ".join(f"`{f.name}` {f.dataType.simpleString()}" for f in self._rows.schema.fields)
        spark.sql(f"CREATE TABLE db.trips ({fields}) USING parquet LOCATION '{table}'")
        jvm: Any = spark._jvm
        catalog = spark._jsparkSession.sharedState().externalCatalog()
        found = catalog.getTable("db", "trips")
        parts = [found.productElement(i) for i in range(found.productArity())]
        values = spark._sc._gateway.new_array(jvm.Object, len(parts))
        for i, part in enumerate(parts):
            values[i] = jvm.scala.Some("hudi") if str(part) == "Some(parquet)" else part
        catalog.alterTable(found.getClass().getConstructors()[0].newInstance(values))

    def remove(self, data: Path) -> None:
        """Takes the page's tables away."""
        self._spark.sql("DROP TABLE IF EXISTS db.trips")
        shutil.rmtree(data.parent, ignore_errors=True)
