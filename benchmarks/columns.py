"""Parquet beside the column files: columns.py DIR OUT reads the records that `Skipping` left in DIR.

One row for each column and file, sorted by both, written by pyarrow with zstd level 3; bounds stand in two
columns for each physical type. Reads are those of `Skipping`: everything, 10 records of one column, all records
of four columns.
"""

from __future__ import annotations

import json
import pathlib
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

SYSTEM = "Parquet, zstd, pyarrow"


def main(folder: pathlib.Path, out: pathlib.Path) -> None:
    typed, files = names(folder / "names.txt")
    columns = [c.split(" ")[0] for c in typed]
    parquet = folder / "records.parquet"
    table = records(folder / "records.bin", typed, files)
    pq.write_table(
        table,
        parquet,
        compression="zstd",
        compression_level=3,
        row_group_size=len(files) * 16,
        use_dictionary=True,
    )
    rows = table.num_rows
    figures = [
        figure("bytes", "", parquet.stat().st_size, "bytes"),
        figure("bytes a record", "", parquet.stat().st_size / rows, "bytes"),
        timed("scan all", "warm", 5, lambda: expect(pq.read_table(parquet), rows)),
        timed("10 records", "warm", 7, lambda: expect(few(parquet, columns, files), 10)),
        timed("5,000 records", "warm", 7, lambda: expect(many(parquet, columns), 4 * len(files))),
    ]
    with out.open("a") as lines:
        for f in figures:
            line = json.dumps(f)
            print(line)
            lines.write(line + "\n")


def few(parquet: pathlib.Path, columns: list[str], files: list[str]) -> pa.Table:
    wanted = [files[(i * 97 + 1) % len(files)] for i in range(10)]
    return pq.read_table(
        parquet, filters=[("column", "=", columns[118 % len(columns)]), ("file", "in", wanted)]
    )


def many(parquet: pathlib.Path, columns: list[str]) -> pa.Table:
    wanted = [columns[(i * 211 + 13) % len(columns)] for i in range(4)]
    return pq.read_table(parquet, filters=[("column", "in", wanted)])


def names(path: pathlib.Path) -> tuple[list[str], list[str]]:
    lines = [line.split(" ") for line in path.read_text().splitlines()]
    columns = [" ".join(line) for line in lines if len(line) == 2]
    return columns, [line[0] for line in lines if len(line) == 3]


def records(path: pathlib.Path, columns: list[str], files: list[str]) -> pa.Table:
    data = memoryview(path.read_bytes())
    n, at, batches = len(files), 0, []
    names_of_files = pa.array(files).dictionary_encode()

    def take(count: int) -> memoryview:
        nonlocal at
        at += count
        return data[at - count : at]

    def numbers(kind: pa.DataType) -> pa.Array:
        return pa.Array.from_buffers(kind, n, [None, pa.py_buffer(take(8 * n))])

    def texts() -> pa.Array:
        offsets = take(8 * (n + 1))
        size = int.from_bytes(offsets[-8:], "little")
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(take(size))]
        return pa.Array.from_buffers(pa.large_utf8(), n, buffers)

    for column in columns:
        name, kind = column.split(" ")
        fields: dict[str, Any] = {
            "column": pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array([name])),
            "file": names_of_files,
            "nulls": numbers(pa.int64()),
        }
        for bound in ("min", "max"):
            for form, arrow in (("long", pa.int64()), ("double", pa.float64()), ("string", pa.large_utf8())):
                mine = form == ("string" if kind == "string" else "double" if kind == "double" else "long")
                if not mine:
                    fields[f"{bound}_{form}"] = pa.nulls(n, arrow)
                else:
                    fields[f"{bound}_{form}"] = texts() if form == "string" else numbers(arrow)
        batches.append(pa.table(fields))
    if at != len(data):
        raise ValueError(f"{path}: {len(data)} bytes, {at} of them are records")
    return pa.concat_tables(batches).unify_dictionaries()


def expect(table: pa.Table, rows: int) -> None:
    if table.num_rows != rows:
        raise ValueError(f"{table.num_rows} records, not {rows}")


def timed(what: str, state: str, repeats: int, call: Callable[[], None]) -> dict[str, Any]:
    call()
    millis = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        millis.append((time.perf_counter() - started) * 1000)
    return figure(what, state, statistics.median(millis), "ms", min(millis), repeats)


def figure(
    what: str, state: str, value: float, unit: str, best: float | None = None, repeats: int = 1
) -> dict[str, Any]:
    return {
        "table": "rfc27",
        "system": SYSTEM,
        "what": what,
        "where": "table",
        "state": state,
        "value": value,
        "best": value if best is None else best,
        "unit": unit,
        "repeats": repeats,
    }


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
