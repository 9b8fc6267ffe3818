"""The systems by name, in the order of the table."""

from __future__ import annotations

from .data import Data
from .engine import Engine
from .versions import DELTA, HUDI, HUDI_RS, ICEBERG

NAMES = {
    "hudiidx": "hudiidx",
    "hudi": f"Hudi {HUDI}",
    "iceberg": f"Iceberg {ICEBERG}",
    "delta": f"Delta {DELTA}",
    "hudi_rs": f"hudi-rs {HUDI_RS}",
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
