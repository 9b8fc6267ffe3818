"""A Presto server of one node, and the Hive metastore that it asks for tables; processes on loopback."""

import json
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from standalone import LOOPBACK, free_port
from stored import ROOT

HOME = ROOT / "build" / "lib" / "presto-server-350"
# Both are older than Java 17.
OPENS = [
    f"--add-opens=java.base/{p}=ALL-UNNAMED"
    for p in ("java.lang", "java.net", "java.nio", "java.util", "java.util.concurrent", "sun.nio.ch")
]


@contextmanager
def metastore(work: Path) -> Iterator[str]:
    """The URI of a metastore of the Hive that PySpark brings, with a database in ``work``."""
    port = free_port()
    settings = {
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={work / 'metastore'};create=true",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": str(work / "warehouse"),
        "hive.async.log.enabled": "false",
    }
    properties = "".join(
        f"<property><name>{name}</name><value>{value}</value></property>" for name, value in settings.items()
    )
    (work / "hive-site.xml").write_text(f"<configuration>{properties}</configuration>")
    jars = Path(pyspark.__file__).parent / "jars" / "*"
    main = ["org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port)]
    command = ["java", *OPENS, "-Xmx512m", "-cp", f"{work}:{jars}", *main]
    with _running(command, work / "metastore.log", lambda: _listens(port)):
        yield f"thrift://{LOOPBACK}:{port}"


class Presto:
    """Queries over HTTP."""

    def __init__(self, url: str) -> None:
        self._url = url

    def rows(self, sql: str) -> list[list[Any]]:
        headers = {"X-Presto-User": "test", "X-Presto-Catalog": "hive", "X-Presto-Schema": "default"}
        request = urllib.request.Request(f"{self._url}/v1/statement", data=sql.encode(), headers=headers)
        found: list[list[Any]] = []
        answer = self._ask(request)
        while True:
            if "error" in answer:
                raise RuntimeError(f"{sql}: {answer['error']['message']}")
            found += answer.get("data", [])
            if "nextUri" not in answer:
                return found
            answer = self._ask(answer["nextUri"])

    def _ask(self, what: str | urllib.request.Request) -> dict[str, Any]:
        with urllib.request.urlopen(what, timeout=120) as answer:
            return dict(json.load(answer))


@contextmanager
def presto(work: Path, metastore_uri: str) -> Iterator[Presto]:
    port = free_port()
    url = f"http://{LOOPBACK}:{port}"
    _properties(
        work / "config.properties",
        {
            "coordinator": "true",
            "node-scheduler.include-coordinator": "true",
            "discovery-server.enabled": "true",
            "discovery.uri": url,
            "http-server.http.port": str(port),
            "node.internal-address": LOOPBACK,
            "node.id": "one",
            "plugin.dir": str(HOME / "plugin"),
            "catalog.config-dir": str(work / "catalog"),
            "query.max-memory-per-node": "256MB",
            "query.max-total-memory-per-node": "512MB",
        },
    )
    _properties(
        work / "catalog" / "hive.properties",
        {
            "connector.name": "hive-hadoop2",
            "hive.metastore.uri": metastore_uri,
            "hive.parquet.use-column-names": "true",
        },
    )
    settings = [f"-Dconfig={work / 'config.properties'}", "-Dnode.environment=test"]
    main = ["-cp", str(HOME / "lib" / "*"), "io.prestosql.server.PrestoServer"]
    command = ["java", *OPENS, "-Xmx1g", "-Djdk.attach.allowAttachSelf=true", *settings, *main]
    with _running(command, work / "presto.log", lambda: _has_started(url)):
        yield Presto(url)


def _listens(port: int) -> bool:
    try:
        socket.create_connection((LOOPBACK, port), 5).close()
    except OSError:
        return False
    return True


def _has_started(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/v1/info", timeout=5) as answer:
            return not json.load(answer)["starting"]
    except (OSError, ValueError):
        return False


def _properties(file: Path, settings: dict[str, str]) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))


@contextmanager
def _running(command: list[str], log: Path, is_ready: Callable[[], bool]) -> Iterator[None]:
    """Waits until the process is ready; ends it with the block."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, cwd=log.parent)
    try:
        until = time.monotonic() + 180
        while not is_ready():
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{log.stem} did not start: {log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.3)
        yield
    finally:
        process.terminate()
        process.wait(60)
