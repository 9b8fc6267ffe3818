"""Screenshots of reports for docs/images: of a small table, one with skew, and a large one.

Usage: report_pictures.py [LARGE], the folder of a large table, such as M of benchmarks/README.md
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from hudiidx import HudiIndex, Report, configure_spark

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
VIEWS = {"wide": (1120, False), "narrow": (400, False), "dark": (1120, True)}
TALLEST = 1600

sys.path.insert(0, str(ROOT / "tests"))
import stored  # noqa: E402


def small(spark: SparkSession, into: Path) -> Report:
    """A fixture that stock Hudi wrote."""
    index = HudiIndex(spark, stored.load("v9-mor-part").unpack(into))
    index.create(record="global", columns=["ts", "fare", "city"])
    return index.report()


def skewed(spark: SparkSession, into: Path) -> Report:
    """Events of few large cities and many small ones: sorted by time, mixed by rider, updates of one city."""
    table = str(into / "events")
    options = {
        "hoodie.table.name": "events",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.parquet.small.file.limit": "0",
        "hudiidx.write.create": "true",
        "hudiidx.columns": "ts,fare,rider,zone",
    }

    def write(where: str, operation: str, pieces: int) -> None:
        rows = (
            spark.range(240_000)
            .where(where)
            .selectExpr(
                "concat('event-', id) AS id",
                "concat('city-', lpad(cast(floor(pow(rand(7), 4) * 40) AS int), 2, '0')) AS city",
                "timestamp'2026-03-01 00:00:00' + make_interval(0, 0, 0, 0, 0, 0, id * 10) AS ts",
                "floor(id / 24000) * 10 + round(rand(3) * 40, 2) AS fare",
                "cast(hash(id) % 5000 AS int) AS rider",
                "concat('zone-', cast(floor(id / 30000) AS int) + cast(rand(5) * 2 AS int)) AS zone",
            )
        )
        chosen = rows.repartitionByRange(pieces, "ts")
        chosen.write.format("hudiidx").options(**options).option(
            "hoodie.datasource.write.operation", operation
        ).mode("append").save(table)

    for day in range(10):
        write(f"id >= {day * 24000} AND id < {(day + 1) * 24000}", "bulk_insert", 2)
    for n in range(5):
        write(f"id % 90 = {n}", "upsert", 1)
    index = HudiIndex(spark, table)
    index.update()
    events = spark.read.format("hudiidx").option("hudiidx.read.history", "true").load(table)
    for n in range(12):
        events.where(f"ts >= '2026-03-{n + 1:02d}' and ts < '2026-03-{n + 2:02d}'").count()
        events.where(f"rider = {n}").count()
        if n < 7:
            events.where(f"city = 'city-0{n}' and fare > {80 + n}").count()
    return index.report()


def main(large: str | None) -> None:
    """Makes the pages, then the pictures of them."""
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = configure_spark(builder.config("spark.ui.showConsoleProgress", "false")).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder)
        reports = {"small": small(spark, into), "skewed": skewed(spark, into)}
        if large:
            reports["large"] = HudiIndex(spark, large).report()
        jobs = []
        for name, report in reports.items():
            facts = json.dumps(dict(report.facts), default=dict)
            for place in (folder, str(Path(large).parent) if large else folder):
                facts = facts.replace(place, "/data")
            page = str(Report(json.loads(facts)).save(into / f"{name}.html"))
            for view, (width, dark) in VIEWS.items():
                picture = str(IMAGES / f"report-{name}-{view}.png")
                jobs.append(
                    {"file": page, "width": width, "height": TALLEST, "dark": dark, "picture": picture}
                )
        told = into / "jobs.json"
        told.write_text(json.dumps(jobs))
        command = ["node", str(ROOT / "tests" / "page" / "look.js"), str(told)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    spark.stop()
    for job in jobs:
        print(job["picture"])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
