"""A session with Hudi, Iceberg, Delta and hudiidx at once: all_formats.py FOLDER.

Prints what each reads, as JSON.
"""

from __future__ import annotations

import json
import sys

from pyspark.sql import SparkSession

from hudiidx import HudiIndex

EXTENSIONS = [
    "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "io.delta.sql.DeltaSparkSessionExtension",
    "hudiidx.spark.HudiIdxExtensions",
]
HUDI = {
    "hoodie.table.name": "h",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "n",
    "hoodie.embed.timeline.server": "false",
}


def session(folder: str) -> SparkSession:
    """Every format's extension and catalog."""
    settings = {
        "spark.sql.extensions": ",".join(EXTENSIONS),
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": f"{folder}/ice",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.hudiidx": "hudiidx.spark.HudiIdxCatalog",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main(folder: str) -> None:
    spark = session(folder)
    rows = spark.range(100).selectExpr("id", "id % 7 AS n")
    rows.write.format("hudi").options(**HUDI).save(f"{folder}/h")
    rows.writeTo("ice.db.t").create()
    rows.write.format("delta").save(f"{folder}/d")
    spark.sql("CALL ice.system.rewrite_data_files('db.t')").collect()
    spark.sql(
        f"CALL hudiidx.system.create_index(table => '{folder}/h', record => 'global', columns => array('n'))"
    )
    index = HudiIndex(spark, f"{folder}/h", strict=True)
    frames = {
        "hudi": spark.read.format("hudi").load(f"{folder}/h"),
        "iceberg": spark.table("ice.db.t"),
        "delta": spark.read.format("delta").load(f"{folder}/d"),
        "hudiidx": spark.read.format("hudiidx").load(f"{folder}/h"),
        "hudiidx by path": spark.sql(f"SELECT * FROM hudiidx.`{folder}/h`"),
        "table function of hudi": spark.sql(
            f"SELECT * FROM hudi_table_changes('{folder}/h', 'latest_state', 'earliest')"
        ),
    }
    found = {name: [r.id for r in f.where("n = 3").orderBy("id").collect()] for name, f in frames.items()}
    found["lookup"] = sorted(int(where.key) for where in index.lookup([str(i) for i in range(3, 100, 7)]))
    print(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
