"""What each system is asked, and the process that it is asked in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from .data import Data

LIB = Path(__file__).resolve().parents[2] / "build" / "lib"
TOTALS = ["count(*)", "sum(amount)", "sum(rank)", "min(note)", "max(note)"]


class Missing(Exception):
    """The system has no such operation; says why."""


class Engine(ABC):
    """A system: every method but `fresh` is timed and gives an answer that all systems must agree on (None: nothing to agree on)."""

    def __init__(self, data: Data) -> None:
        self.data = data

    def fresh(self) -> None:
        """A new copy of the data files, without anything that `bootstrap` makes."""

    def bootstrap(self) -> None:
        """Table format's metadata or index, from data files that are there."""
        raise Missing("nothing to make")

    def listing(self) -> None:
        """Of an index its listing alone."""
        raise Missing("it makes all at once")

    def bytes(self) -> int:
        """Bytes of what `bootstrap` made."""
        raise Missing("keeps nothing")

    def plan(self, day: str) -> None:
        """Files of one day of `M`, from the table's path to the tasks."""
        raise Missing("not made")

    def files(self, day: str) -> int:
        """Latest file slices of one day of `M`, without a query; the table is opened anew."""
        raise Missing("reads no Hudi tables")

    def plan_range(self, first: int, end: int) -> None:
        """As `selective`, as far as the tasks."""
        raise Missing("has no tasks")

    @abstractmethod
    def selective(self, first: int, end: int) -> list[int]:
        """Rows with amounts between two: count, sum of `rank`."""

    @abstractmethod
    def point(self, key: str) -> list[int]:
        """Amount and rank of a key."""

    @abstractmethod
    def keys(self, keys: list[str]) -> list[int]:
        """Rows of so many keys: count, sum of `amount`."""

    def locate(self, key: str) -> int:
        """The file of a record key, without a query; how many there are."""
        raise Missing("keeps no record keys")

    def tag(self, salt: int) -> int:
        """The file of each key of a batch; how many have one."""
        raise Missing("cannot write")

    def upsert(self, salt: int, count: int | None = None) -> None:
        """Writes the first `count` rows of a batch (all), index or statistics included."""
        raise Missing("cannot write")

    @abstractmethod
    def read(self) -> list[int | str]:
        """Every row: count, sums of `amount` and `rank`, least and greatest `note`."""

    def update(self) -> None:
        """Brings an index up to the table."""
        raise Missing("its writers keep it")

    def commit_to(self, table: str, salt: int) -> None:
        """Writes a row of a batch to another system's Hudi table."""
        raise Missing("writes to no Hudi table")

    def compact(self) -> None:
        """Merges what upserts left beside the base files."""
        raise Missing("does not compact")

    def increment(self) -> list[int]:
        """Rows that the last upsert wrote: count, sum of `amount`."""
        raise Missing("has no changes")


class SparkEngine(Engine):
    """A system with a DataFrame of the table, in a Spark of its own: local[2], 3 GiB."""

    extensions: list[str] = []
    jars: list[str] = []

    def __init__(self, data: Data) -> None:
        super().__init__(data)
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName(type(self).__name__)
        settings = {
            "spark.ui.enabled": "false",
            "spark.driver.memory": "3g",
            # A list of 1,000 keys is as deep an expression to stock Hudi.
            "spark.driver.extraJavaOptions": "-Xss16m",
            "spark.sql.shuffle.partitions": "4",
            "spark.default.parallelism": "4",
            "spark.sql.session.timeZone": "UTC",
            "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
            "spark.sql.warehouse.dir": str(data.folder / "warehouse"),
            "spark.sql.extensions": ",".join(self.extensions),
            "spark.driver.extraClassPath": os.pathsep.join([*self.class_path(), *filter(None, [os.environ.get("HUDIIDX_JARS")])]),
            **self.settings(),
        }
        for name, value in settings.items():
            if value:
                builder = builder.config(name, value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")

    def class_path(self) -> list[str]:
        return [str(LIB / jar) for jar in self.jars]

    def settings(self) -> dict[str, str]:
        return {}

    @abstractmethod
    def table(self) -> Any:
        """A DataFrame of its rows, opened anew."""

    def sums(self, rows: Any, *what: str) -> list[Any]:
        return list(rows.selectExpr(*what).first())

    def tasks(self, rows: Any) -> None:
        """Plans as far as the tasks that would read the files."""
        assert rows._jdf.queryExecution().toRdd().getNumPartitions() > 0

    def selective(self, first: int, end: int) -> list[int]:
        return self.sums(self.table().where(f"amount between {first} and {end}"), "count(*)", "sum(rank)")

    def plan_range(self, first: int, end: int) -> None:
        self.tasks(self.table().where(f"amount between {first} and {end}").select("rank"))

    def point(self, key: str) -> list[int]:
        return [int(v) for row in self.table().where(f"key = '{key}'").select("amount", "rank").collect() for v in row]

    def keys(self, keys: list[str]) -> list[int]:
        texts = ", ".join(f"'{key}'" for key in keys)
        return self.sums(self.table().where(f"key in ({texts})"), "count(*)", "sum(amount)")

    def tag(self, salt: int) -> int:
        """As a merge does it first: the batch's keys joined with the table's, for the names of the files."""
        keys = self.data.batch_rows(self.spark, salt).select("key")
        files = self.table().selectExpr("key", f"{self.file_name} as file")
        return int(self.sums(keys.join(files, "key", "left"), "count(file)", "sum(hash(file))")[0])

    file_name = "_metadata.file_path"

    def merge(self, table: str, salt: int, count: int | None) -> None:
        """An upsert in SQL."""
        self.data.batch_rows(self.spark, salt, count).createOrReplaceTempView("changed")
        self.spark.sql(
            f"merge into {table} t using changed s on t.key = s.key and t.part = s.part "
            "when matched then update set * when not matched then insert *"
        )

    def read(self) -> list[int | str]:
        return self.sums(self.table(), *TOTALS)


def linked(source: Path, target: Path, without: tuple[str, ...] = ()) -> None:
    """A copy of a table that may be written to: data files are links, since nobody changes them in place."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, copy_function=os.link, ignore=shutil.ignore_patterns(".hoodie", ".*.crc"))
    if (source / ".hoodie").exists():
        shutil.copytree(source / ".hoodie", target / ".hoodie", ignore=shutil.ignore_patterns(*without))


def bytes_under(folder: Path) -> int:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file() and f.suffix != ".crc")


class Process:
    """An engine in a process of its own, which waits between questions."""

    def __init__(self, name: str, data: Data) -> None:
        self.name = name
        command = [sys.executable, "-m", "bench.worker", name, str(data.folder), str(data.rows), str(data.batch), data.place]
        log = (data.folder / f"{name}.log").open("w")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, cwd=Path(__file__).parents[1]
        )

    def ask(self, operation: str, *arguments: Any) -> dict[str, Any]:
        """`millis` and `answer`, or `missing`."""
        assert self.process.stdin and self.process.stdout
        print(json.dumps([operation, *arguments]), file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            if line.startswith("{"):
                reply: dict[str, Any] = json.loads(line)
                if "error" in reply:
                    raise RuntimeError(f"{self.name}, {operation}: {reply['error']}")
                return reply
        raise RuntimeError(f"{self.name} ended in {operation}; see its log")

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()
