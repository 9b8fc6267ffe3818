"""Tables with hostile names throughout: of folder, partition, file group, key, column, property, write."""

import json
import re
import shutil
from pathlib import Path

from hostile import HOSTILE, NAME, PARTITION
from pyspark.sql import SparkSession

# Our writer takes no ends of lines in values of partitions.
WRITTEN = re.sub(r"[\r\n]", "", PARTITION)
KEY, COLUMN = HOSTILE, "`x\x1b[31m[red]\n[/x]\x07\u202e`"
FILE_ID = NAME.replace("_", "-")


def log_in(table: Path) -> Path:
    return next(f for f in table.rglob("*.log.*") if ".crc" not in f.name and ".hoodie" not in f.parts)


def write(spark: SparkSession, table: Path, n: int) -> None:
    rows = [(KEY, WRITTEN, n, HOSTILE), ("plain", "sf", n, "r")]
    options = {
        "hoodie.table.name": "names",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city",
        "hoodie.datasource.write.precombine.field": "n",
        "hoodie.write.table.version": "6",
        "hudiidx.write.create": "true",
    }
    frame = spark.createDataFrame(rows, "id string, city string, n int, rider string")
    frame.write.format("hudiidx").options(**options).mode("append").save(str(table))


def renamed(table: Path) -> Path:
    """The table, itself and one of its partitions and a file group there of hostile names."""
    (table / "sf").rename(table / PARTITION)
    shutil.rmtree(table / ".hoodie" / "metadata")
    properties = table / ".hoodie" / "hoodie.properties"
    text = re.sub(r"(metadata.partitions)=.*", r"\1=", properties.read_text())
    text = re.sub(r"hoodie.table.name=.*", lambda _: f"hoodie.table.name={of_properties(HOSTILE)}", text)
    properties.write_text(re.sub(r"hoodie.table.checksum=.*\n", "", text))
    file_id = next((table / PARTITION).glob("*.parquet")).name.split("_")[0]
    for file in (table / PARTITION).glob(f"{file_id}_*"):
        file.rename(file.with_name(file.name.replace(file_id, FILE_ID)))
    changes = {'"sf/': f"{json.dumps(PARTITION)[:-1]}/", '"sf"': json.dumps(PARTITION)}
    for file in (table / ".hoodie").glob("*commit"):
        text = file.read_text().replace('"UPSERT"', json.dumps(HOSTILE))
        for old, new in {**changes, file_id: json.dumps(FILE_ID)[1:-1]}.items():
            text = text.replace(old, new)
        file.write_text(text)
    return table


def of_properties(text: str) -> str:
    """A value as java.util.Properties reads it."""
    return "".join(c if " " < c < "\x7f" and c not in "\\:=#!" else f"\\u{ord(c):04x}" for c in text)


# Properties of a version that may hold any text: the version can be read, and what they say is told.
SYMLINKS = f"/nowhere/{HOSTILE}"
NEVER = HOSTILE.replace("\n", "")
FORGED = {
    "column.specs": f"range(fare,{COLUMN});bloom({COLUMN},fpp=0.1);{HOSTILE}",
    "column.pending": f"range({COLUMN});{HOSTILE}",
    "columns.never": NEVER,
    "symlink.path": SYMLINKS,
}


def forge(spark: SparkSession, table: Path, properties: dict[str, str]) -> None:
    """Changes properties of the version in force, as who writes to the folder can."""
    version = max((table / ".hoodie" / "hudiidx" / "versions").glob("*.json"))
    document = json.loads(version.read_text())
    del document["crc32c"]
    document["properties"].update(properties)
    body = json.dumps(document, separators=(",", ":"), ensure_ascii=False)[:-1]
    crc = spark._jvm.java.util.zip.CRC32C()
    crc.update(bytearray(body.encode()))
    version.write_text(f'{body},"crc32c":"{crc.getValue():08x}"}}', newline="")
