"""A cluster of two executors on this machine, whose executors can be killed."""

import os
import signal
from pathlib import Path

from pyspark.sql import SparkSession

from hudiidx import configure_spark


def small_cluster() -> SparkSession:
    """A session whose slow tasks run twice."""
    builder = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.executor.memory", "1g")
        .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .config("spark.speculation", "true")
        .config("spark.speculation.interval", "100ms")
        .config("spark.speculation.multiplier", "1.2")
        .config("spark.speculation.quantile", "0.3")
        .config("spark.sql.shuffle.partitions", "4")
    )
    spark = configure_spark(builder).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


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
