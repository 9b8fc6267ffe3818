"""S3Proxy in a process of its own, with a folder of the local disk as its store."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from xml.sax.saxutils import escape

from .slow_door import LOOPBACK

BUCKET = "bench"
# It logs each step of a request otherwise.
QUIET = '<configuration><root level="WARN"/></configuration>\n'


def free_port() -> int:
    with socket.socket() as s:
        s.bind((LOOPBACK, 0))
        return int(s.getsockname()[1])


class S3Proxy:
    """Buckets are folders below `folder`; what lies in them is there for the client too."""

    def __init__(self, class_path: list[Path], folder: Path) -> None:
        self.port = free_port()
        (folder / BUCKET).mkdir(parents=True, exist_ok=True)
        settings = folder.with_suffix(".conf")
        settings.write_text(
            f"s3proxy.authorization=none\ns3proxy.endpoint=http://{LOOPBACK}:{self.port}\n"
            f"jclouds.provider=filesystem-nio2\njclouds.filesystem.basedir={folder}\n"
        )
        quiet = folder.with_suffix(".logback.xml")
        quiet.write_text(QUIET)
        self._log = folder.with_suffix(".log")
        command = ["java", "-Xmx512m", f"-Dlogback.configurationFile={quiet}", "-cp", os.pathsep.join(map(str, class_path)), "org.gaul.s3proxy.Main", "--properties", str(settings)]
        with self._log.open("w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        self._wait()

    def _wait(self) -> None:
        patience = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"http://{LOOPBACK}:{self.port}/{BUCKET}?list-type=2&max-keys=1").close()
                return
            except (urllib.error.URLError, ConnectionError):
                if self.process.poll() is not None or time.monotonic() > patience:
                    self.close()
                    raise RuntimeError(f"S3Proxy did not start: {self._log.read_text()}") from None
                time.sleep(0.1)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


def write_core_site(folder: Path, port: int) -> None:
    """Hadoop's settings for the store, in a file that every process has on its class path."""
    settings = {
        "fs.s3a.endpoint": f"http://{LOOPBACK}:{port}",
        "fs.s3a.endpoint.region": "us-east-1",
        "fs.s3a.path.style.access": "true",
        "fs.s3a.connection.ssl.enabled": "false",
        "fs.s3a.access.key": "any",
        "fs.s3a.secret.key": "any",
        # S3Proxy has no tag of a file that was copied into its folder.
        "fs.s3a.change.detection.version.required": "false",
    }
    lines = "".join(f"<property><name>{n}</name><value>{escape(v)}</value></property>\n" for n, v in settings.items())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "core-site.xml").write_text(f"<configuration>\n{lines}</configuration>\n")
