"""A small session of stock Hudi, with the fixtures' helpers."""

from collections import Counter
from concurrent.futures import Future
from pathlib import Path

import hudifix
import short_jvm
from pyspark.sql import SparkSession

JVM = " ".join(
    (
        "--add-opens=java.base/java.util.stream=ALL-UNNAMED",
        "-Duser.timezone=UTC",
        *short_jvm.FLAGS,
    )
)


class StockSession(hudifix.Env):
    """The fixtures' helpers over a small session."""

    def __init__(self, version: str, jars: str, work: str, memory: str) -> None:
        self.version, self.work, self.v1 = version, work, version.startswith("1.")
        self.tables: dict[str, hudifix.Table] = {}
        self.streamed: dict[str, Counter[str]] = {}
        self.begun: dict[str, tuple[Path, Future[None]]] = {}
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
