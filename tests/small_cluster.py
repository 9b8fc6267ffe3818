"""A cluster of two workers on this machine, whose executors can be killed and stopped for a while."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pyspark.sql import SparkSession
from standalone import LOOPBACK, standalone

from hudiidx import configure_spark


@contextmanager
def small_cluster(work: Path) -> Iterator[SparkSession]:
    """A session whose slow tasks run twice.

    Each worker has a host of its own: Spark starts no copy of a task on the host that has the first one. What
    it tells of its tasks goes to ``events`` in the folder.
    """
    events = work / "events"
    events.mkdir(parents=True)
    settings = {
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.executor.memory": "1g",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.multiplier": "1.2",
        "spark.speculation.quantile": "0.3",
        "spark.sql.shuffle.partitions": "4",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.compress": "false",
    }
    with standalone(work, [LOOPBACK, "127.0.0.2"]) as master:
        builder = SparkSession.builder.master(master)
        for name, value in settings.items():
            builder = builder.config(name, value)
        spark = configure_spark(builder).getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        yield spark
        spark.stop()


def tasks_run_twice(work: Path) -> int:
    """Tasks of which a second copy started beside the first, by Spark's account; behind the session's end."""
    lines = (line for file in (work / "events").iterdir() for line in file.read_text().splitlines())
    return sum('"SparkListenerTaskStart"' in line and '"Speculative":true' in line for line in lines)


def executors(application: str) -> list[int]:
    """Processes of the application's executors, by what the kernel knows."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().decode().split("\0")
        except (OSError, UnicodeDecodeError):
            continue
        if (
            application in words
            and any("CoarseGrainedExecutorBackend" in w for w in words)
            and "java" in words[0]
        ):
            found.append(int(entry.name))
    return found


def kill_one(application: str) -> None:
    os.kill(min(executors(application)), signal.SIGKILL)


def freeze_one(application: str, seconds: float) -> None:
    """An executor stands still, so that its tasks run again elsewhere, and then goes on with them."""
    frozen = max(executors(application))
    os.kill(frozen, signal.SIGSTOP)
    time.sleep(seconds)
    with suppress(ProcessLookupError):
        os.kill(frozen, signal.SIGCONT)
