"""`M` for those who do not read Hudi's timeline: its latest base files, registered with Iceberg and with Delta. Metadata alone."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from .data import Data

BENCHMARKS = Path(__file__).resolve().parents[1]
SCHEMA = {
    "type": "struct",
    "fields": [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in (("id", "string"), ("day", "string"), ("ts", "long"), ("fare", "double"))
    ],
}


def write_list(table: Path, listed: Path) -> None:
    """A line for each of `M`'s latest files: day, path, bytes and instant, with tabs between."""
    listed.write_text("".join("\t".join(f) + "\n" for f in latest_files(table)))


def register_with_iceberg(listed: Path, data: Data) -> None:
    shutil.rmtree(data.folder / "M-iceberg", ignore_errors=True)
    peer = [str(BENCHMARKS / "peer"), "iceberg", "-Xmx3g", "Iceberg", "files", str(listed), data.url("M-iceberg")]
    subprocess.run(peer, check=True)


def latest_files(table: Path) -> list[tuple[str, str, str, str]]:
    """Day, path, bytes and instant of each file group's newest file."""
    newest: dict[tuple[str, str], tuple[str, Path]] = {}
    for file in table.glob("*/*.parquet"):
        group, _, instant = file.stem.split("_")
        key = (file.parent.name, group)
        newest[key] = max(newest.get(key, ("", file)), (instant, file))
    found = [(day, str(file), str(file.stat().st_size), instant) for (day, _), (instant, file) in newest.items()]
    return sorted(found, key=lambda f: (f[3], f[1]))


def write_delta_log(listed: Path, table: Path) -> None:
    """One version an instant."""
    shutil.rmtree(table, ignore_errors=True)
    log = table / "_delta_log"
    log.mkdir(parents=True)
    by_instant: dict[str, list[Any]] = {}
    for line in listed.read_text().splitlines():
        day, path, size, instant = line.split("\t")
        added = {
            "path": f"file://{path}",
            "partitionValues": {"day": day},
            "size": int(size),
            "modificationTime": 0,
            "dataChange": True,
            "stats": json.dumps({"numRecords": max(1, int(size) // 128)}),
        }
        by_instant.setdefault(instant, []).append({"add": added})
    meta = {
        "id": "bench",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps(SCHEMA),
        "partitionColumns": ["day"],
        "configuration": {},
        "createdTime": 0,
    }
    head = [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": meta}]
    for version, instant in enumerate(sorted(by_instant)):
        actions = [*(head if version == 0 else []), *by_instant[instant]]
        (log / f"{version:020}.json").write_text("\n".join(map(json.dumps, actions)) + "\n")
