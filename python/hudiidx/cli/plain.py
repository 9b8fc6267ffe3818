"""Runs a command on a plain JVM: our jar and a few jars of the installed PySpark, no Spark session."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hudiidx._spark import spark_jars
from hudiidx.cli import out
from hudiidx.errors import HudiIdxException, InvalidOption, of_jvm_class
from hudiidx.session import jar_path

# What listing needs out of PySpark's 250 jars: fewer jars start faster.
_NEEDED = (
    "hadoop-client-",
    "avro-1",
    "jackson-core-2",
    "jackson-databind-2",
    "jackson-annotations-2",
    "zstd-jni-",
    "slf4j-api-",
    "scala-library-",
    "commons-logging-",
    "commons-lang3-",  # which hadoop-aws names
    "parquet-",
    "jts-core-",  # which Parquet of Spark 4.1 names
    "snappy-java-",
    "lz4-java-",
)
# What planning needs beyond it: Spark's expressions, and what they are made of.
_EXPRESSIONS = (
    "spark-catalyst_",
    "spark-sql",
    "spark-core_",
    "spark-common-",
    "spark-unsafe_",
    "spark-network-common_",
    "spark-network-shuffle_",
    "spark-variant_",
    "scala-reflect-",
    "icu4j-",
    "ivy-",
    "kryo-shaded-",
    "json4s-",
    "jackson-module-scala_",
    "commons-lang3-",
    "log4j-api-",
    "log4j-core-",
)
_MAIN = "hudiidx.command.Main"
_PRUNE_MAIN = "hudiidx.spark.command.PruneMain"
# Starts fast and stays small.
_JVM_FLAGS = (
    "-XX:+UseSerialGC",
    "-Xshare:auto",
    "-XX:-UsePerfData",
    "-XX:MetaspaceSize=128m",  # beyond which the JVM collects garbage to unload classes
)
# Most commands are over before a better compiler would pay; those that look at every file of a table are not.
_QUICK_FLAGS = ("-XX:TieredStopAtLevel=1", *_JVM_FLAGS)
_AT_LENGTH = ("report",)
# What the JVM has to say of itself goes to stdout by default, where the document is.
JVM_LOG = ("-Xlog:disable", "-Xlog:all=warning:stderr")


_MISSING = re.compile(r"(?:ClassNotFoundException|NoClassDefFoundError): ([\w./$]+)")


class CommandFailed(Exception):
    """The JVM ended with an error that is not one of ours."""


def run(arguments: list[str], stdin: bytes = b"") -> Any:
    """Runs the command and returns its JSON document, field names in snake case.

    Args:
        arguments: the command, the table and options.
        stdin: what the command reads from standard input.

    Raises:
        HudiIdxException: what the Scala side reported, as its Python peer.
        CommandFailed: no Java, or it died otherwise.
    """
    flags = _JVM_FLAGS if arguments[0] in _AT_LENGTH else _QUICK_FLAGS
    return _run(flags, _NEEDED, _MAIN, arguments, stdin)


def prune(table: str, where: str, options: list[str]) -> Any:
    """The document of `hudiidx prune`, as `run`; None if it takes a Spark session to tell."""
    try:
        found = _run(_QUICK_FLAGS, _NEEDED + _EXPRESSIONS, _PRUNE_MAIN, [table, *options], where.encode())
    except InvalidOption:
        raise
    except HudiIdxException:
        if "://" not in table:
            raise
        return None  # a session may have another store's client and its settings
    except CommandFailed:  # a PySpark with other jars: a session has them all
        return None
    return None if "needs_session" in found else found


def _run(flags: tuple[str, ...], jars: tuple[str, ...], main: str, arguments: list[str], stdin: bytes) -> Any:
    command = [java(), *flags, *JVM_LOG, "-cp", class_path(jars), main, *arguments]
    # Spark looks for the machine's own address as soon as its classes are there; nobody asks for it here.
    environment = {"SPARK_LOCAL_IP": "127.0.0.1", **os.environ}
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, env=environment)
    stdout, stderr = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    if done.returncode == 0 and stdout.strip():
        _warn(stderr)
        return json.loads(stdout)
    raise _failure(done.returncode, stderr)


def java() -> str:
    """The ``java`` of JAVA_HOME, else of PATH."""
    home = os.environ.get("JAVA_HOME")
    if home:
        at_home = Path(home, "bin", "java")
        if not at_home.is_file():
            remedy = "set it to the folder of a Java 17, or unset it"
            raise CommandFailed(f"JAVA_HOME={home}: has no bin/java; {remedy}")
        return str(at_home)
    found = shutil.which("java")
    if not found:
        raise CommandFailed(
            "no java: set JAVA_HOME or install Java 17, e.g. apt-get install openjdk-17-jdk-headless"
        )
    return found


def class_path(needed: tuple[str, ...] = _NEEDED) -> str:
    """Our jar, those of PySpark whose names begin so, and what HUDIIDX_CLASSPATH adds (stores such as S3)."""
    try:
        jars, jar = spark_jars(), jar_path()
    except RuntimeError as error:
        raise CommandFailed(str(error)) from None
    found = sorted(str(j) for j in jars.glob("*.jar") if j.name.startswith(needed))
    extra = [e for e in os.environ.get("HUDIIDX_CLASSPATH", "").split(os.pathsep) if e]
    return os.pathsep.join([str(jar), *found, *extra])


def _failure(code: int, stderr: str) -> Exception:
    """The error document that the JVM printed last, as an exception."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    for line in reversed(lines):
        if line.startswith("{"):
            try:
                told = json.loads(line)
            except ValueError:
                continue
            name, message = str(told.get("error")), str(told.get("message"))
            ours: type[HudiIdxException] | None = of_jvm_class(name)
            return ours(message) if ours else CommandFailed(f"{name}: {message}")
    missing = _MISSING.findall(stderr)
    if missing:
        return CommandFailed(
            f"no jar on the class path has {missing[-1].replace('/', '.')}: name the jar that has it in "
            "HUDIIDX_CLASSPATH, too (a store's client needs those that it was built with)"
        )
    # Of a stack trace what it is of, and not its last frame.
    said = next((line for line in reversed(lines) if not line[0].isspace()), "no message")
    return CommandFailed(f"java ended with exit code {code}: {said}")


def _warn(stderr: str) -> None:
    """Passes our own warnings on; SLF4J's and Hadoop's start-up talk is dropped."""
    for line in stderr.splitlines():
        if "hudiidx" in line or line.startswith("warning:"):
            out.line(line, stderr=True)
