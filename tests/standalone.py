"""A standalone Spark cluster of the installed PySpark: master and workers are processes on loopback.

They are started by the script that the containers of docker/ run.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyspark
from stored import ROOT

HOME = Path(pyspark.__file__).parent
LOOPBACK = "127.0.0.1"
NODE = ROOT / "docker" / "spark-node"


def free_port() -> int:
    with socket.socket() as s:
        s.bind((LOOPBACK, 0))
        return int(s.getsockname()[1])


@contextmanager
def standalone(work: Path, hosts: Sequence[str] = (LOOPBACK, LOOPBACK)) -> Iterator[str]:
    """The URL of a master with a worker of one core and a gibibyte on each host; all end with the block."""
    port, page = free_port(), free_port()
    url = f"spark://{LOOPBACK}:{port}"
    processes = []
    try:
        with (work / "cluster.log").open("wb") as log:
            ports = ["--port", str(port), "--webui-port", str(page)]
            processes.append(_start("master", LOOPBACK, log, *ports))
            _wait(page, 0, work)
            for n, host in enumerate(hosts):
                sizes = ["--cores", "1", "--memory", "1g", "--webui-port", "0"]
                folder = ["--work-dir", str(work / f"worker-{n}")]
                processes.append(_start("worker", host, log, *sizes, *folder, url))
            _wait(page, len(hosts), work)
        yield url
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(30)


def submit(master: str, jars: str, script: Path, *arguments: str, conf: dict[str, str] | None = None) -> str:
    """Runs a script by spark-submit and returns what it printed; an error shows the end of its log."""
    settings = {
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.executor.memory": "800m",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **(conf or {}),
    }
    flags = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    submit = str(HOME / "bin" / "spark-submit")
    command = [submit, "--master", master, "--jars", jars, *flags, str(script), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, env=_environment(), check=False, timeout=900
    )
    if done.returncode != 0:
        told = f"{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
        raise RuntimeError(f"{script.name} ended with {done.returncode}: {told}")
    return done.stdout


def _environment(host: str = LOOPBACK) -> dict[str, str]:
    python = {"PYSPARK_PYTHON": sys.executable, "PYTHON": sys.executable}
    return {
        **os.environ,
        **python,
        "SPARK_HOME": str(HOME),
        "HOST": host,
        "SPARK_LOCAL_IP": host,
        "TZ": "UTC",
    }


def _start(role: str, host: str, log: IO[bytes], *arguments: str) -> subprocess.Popen[bytes]:
    command = [str(NODE), role, *arguments]
    return subprocess.Popen(command, stdout=log, stderr=log, env=_environment(host))


def _wait(page: int, workers: int, work: Path) -> None:
    """Until the master says that so many workers are alive."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"http://{LOOPBACK}:{page}/json/", timeout=5) as answer:
                if json.load(answer)["aliveworkers"] >= workers:
                    return
        except (OSError, ValueError):
            pass
        time.sleep(0.3)
    raise RuntimeError(f"the cluster did not start: {(work / 'cluster.log').read_text()[-3000:]}")
