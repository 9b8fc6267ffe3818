"""The systems by name, in the order of the table."""

from __future__ import annotations

from .data import Data
from .engine import Engine

NAMES = {
    "hudiidx": "hudiidx",
    "hudi": "Hudi 1.1.1",
    "iceberg": "Iceberg 1.10.0",
    "delta": "Delta 3.3.2",
    "hudi_rs": "hudi-rs 0.5.0",
    "parquet": "plain Spark",
}


def engine(name: str, data: Data) -> Engine:
    """Its module is imported in its own process alone."""
    if name == "hudiidx":
        from .hudiidx_engine import Hudiidx as made
    elif name == "hudi":
        from .hudi import StockHudi as made
    elif name == "iceberg":
        from .iceberg import Iceberg as made
    elif name == "delta":
        from .delta import Delta as made
    elif name == "hudi_rs":
        from .hudi_rs import HudiRs as made
    else:
        from .parquet import PlainSpark as made
    return made(data)
