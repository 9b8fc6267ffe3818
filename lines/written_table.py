"""A table that tests write to, and what its rows must be."""

from pyspark.sql import DataFrame, SparkSession

COLUMNS = ["id", "id % 3 AS p", "id * 2 AS n", "named_struct('a', id, 'b', array(id)) AS s"]


class WrittenTable:
    """100 rows, the first ten of which were updated; `expected` has `n` by `id`."""

    def __init__(self, spark: SparkSession, path: str, version: str) -> None:
        self.spark, self.path, self.version = spark, path, version
        self.name = f"hudiidx.`{path}`"
        self.options = {
            "hoodie.table.name": "line",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.partitionpath.field": "p",
            "hoodie.datasource.write.precombine.field": "n",
            "hoodie.write.table.version": version,
            "hudiidx.write.create": "true",
        }
        self.save(spark.range(100).selectExpr(*COLUMNS))
        self.save(spark.range(10).selectExpr("id", "id % 3 AS p", "id + 1000 AS n", COLUMNS[3]))
        self.expected = {i: i + 1000 if i < 10 else i * 2 for i in range(100)}

    def save(self, rows: DataFrame) -> None:
        """Upserts rows."""
        rows.write.format("hudiidx").options(**self.options).mode("append").save(self.path)

    def read(self, **options: str) -> DataFrame:
        """All rows, or what the options say."""
        return self.spark.read.format("hudiidx").options(**options).load(self.path)

    def numbers(self, **options: str) -> dict[int, int]:
        """`n` by `id`, and every id once."""
        rows = self.read(**options).select("id", "n").collect()
        found = {r.id: r.n for r in rows}
        assert len(found) == len(rows)
        return found

    def instants(self) -> list[str]:
        """Requested times of the completed instants, oldest first."""
        rows = self.spark.sql(
            f"SELECT requested_time FROM hudiidx.`{self.path}`.timeline WHERE state = 'COMPLETED' ORDER BY 1"
        )
        return [r.requested_time for r in rows.collect()]
