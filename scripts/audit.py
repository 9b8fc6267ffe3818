"""Looks for known holes in what is shipped, and that jars have their licences.

Usage: audit.py [JAR...]

Without jars it looks at the pinned Python packages. Of a jar it reads what its parts say of themselves:
Maven's pom.properties, and the versions that Jackson's classes hold, copies in other libraries included.
Classes of a part that says nothing are an error, and so are jars within a jar. Known holes stand in
advisories.tsv, which holds no more than was known when it was last looked at. Exit code 1 if something is
wrong.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
ADVISORIES = Path(__file__).with_name("advisories.tsv")
OURS = "hudiidx/shaded/"

# Whose the classes are that stand under names of ours.
PARTS = {
    "airlift/": "io.airlift:aircompressor",
    "avro/": "org.apache.avro:avro",
    "jackson/annotation/": "com.fasterxml.jackson.core:jackson-annotations",
    "jackson/core/": "com.fasterxml.jackson.core:jackson-core",
    "jackson/databind/": "com.fasterxml.jackson.core:jackson-databind",
    "jts/": "org.locationtech.jts:jts-core",
    "parquet/shaded/it/unimi/": "org.apache.parquet:parquet-column",
    "parquet/shaded/net/openhft/": "net.openhft:zero-allocation-hashing",
    "parquet/shaded/org/apache/thrift/": "org.apache.parquet:parquet-format-structures",
    "parquet/": "org.apache.parquet:parquet-hadoop",
    "scala/": "org.scala-lang:scala-library",
}
# What a part has in it and says nothing of, as its parent's pom tells.
WITHIN = {
    "org.apache.parquet:parquet-format-structures": {"1.18.1": ("org.apache.thrift:libthrift", "0.23.0")},
}

_PIN = re.compile(r"\b([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*={2,3}\s*(\d[\w.]*)")
_EARLY = re.compile(r"[.-]?(?:a|b|c|m|rc|cr|alpha|beta|dev|pre|snapshot)", re.IGNORECASE)
_JACKSON = re.compile(rb"jackson-(?:core|databind|annotations)")
_VERSION = re.compile(rb"\x01\x00[\x01-\x20](\d+\.\d+[.\d]*)")


class Part(NamedTuple):
    """A library in a certain version, as Maven or PyPI name it."""

    kind: str
    name: str
    version: str


class Advisory(NamedTuple):
    """A hole of the versions from `since` up to, and without, `before`."""

    kind: str
    name: str
    since: str
    before: str
    number: str
    what: str

    def holds(self, part: Part) -> bool:
        """Whether the part has this hole."""
        return (self.kind, self.name) == part[:2] and key(self.since) <= key(part.version) < key(self.before)


def key(version: str) -> tuple[tuple[int, ...], bool]:
    """By what versions are compared: numbers, 2.0 being 2.0.0; what comes before a release is below it."""
    told = re.match(r"[\d.]*", version).group()  # type: ignore[union-attr]
    numbers = [int(n) for n in told.split(".") if n]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), _EARLY.match(version[len(told) :]) is None


def advisories() -> list[Advisory]:
    """Those of advisories.tsv."""
    lines = ADVISORIES.read_text(encoding="utf-8").splitlines()
    return [Advisory(*line.split("\t")) for line in lines if line and not line.startswith("#")]


def parts_of(jar: ZipFile) -> set[Part]:
    """What the jar says that it holds, by Maven's files and by Jackson's classes."""
    found = set()
    for name in jar.namelist():
        if re.fullmatch(r"META-INF/maven/.+/pom\.properties", name):
            said = dict(re.findall(r"^(\w+)=(.*?)\s*$", jar.read(name).decode("utf-8"), re.MULTILINE))
            found.add(Part("maven", f"{said['groupId']}:{said['artifactId']}", said["version"]))
        elif name.endswith("/PackageVersion.class"):
            content = jar.read(name)
            artifact, version = _JACKSON.search(content), _VERSION.search(content)
            if not artifact or not version:
                raise SystemExit(f"{jar.filename}: {name} tells no version")
            group = "com.fasterxml.jackson.core"
            found.add(Part("maven", f"{group}:{artifact.group().decode()}", version.group(1).decode()))
    return found | {_within(part) for part in found if part.name in WITHIN}


def _within(part: Part) -> Part:
    known = WITHIN[part.name]
    if part.version not in known:
        raise SystemExit(f"{part.name} {part.version}: write into WITHIN of audit.py what is in it")
    return Part("maven", *known[part.version])


def silent(jar: ZipFile, parts: set[Part]) -> list[str]:
    """Folders of classes of a part that says nothing of itself, those for later releases of Java included."""
    names = {p.name for p in parts}
    classes = {re.sub(r"^META-INF/versions/\d+/", "", n) for n in jar.namelist() if n.endswith(".class")}
    others = {n for n in classes if n.startswith(OURS) or not n.startswith("hudiidx/")}
    unknown = {n.removeprefix(OURS) for n in others if not _is_of(n, names)}
    return sorted({n.rsplit("/", 1)[0] for n in unknown})


def _is_of(name: str, parts: set[str]) -> bool:
    return any(name.startswith(OURS + at) and part in parts for at, part in PARTS.items())


def within(jar: ZipFile) -> list[str]:
    """Archives in it, whose parts nobody has looked at."""
    return sorted(n for n in jar.namelist() if n.endswith((".jar", ".zip", ".war", ".aar")))


def pinned() -> list[Part]:
    """The Python packages of all lists, and those of the image."""
    files = [*(ROOT / "python").glob("requirements-*.txt"), ROOT / "benchmarks" / "requirements.txt"]
    files += [*(ROOT / "docker").glob("*.txt"), ROOT / "docker" / "Dockerfile", ROOT / "Makefile"]
    texts = [f.read_text(encoding="utf-8") for f in files if f.is_file()]
    pins = {pin for text in texts for pin in pins_of(text)}
    return [Part("pypi", name.lower().replace("_", "-"), version) for name, version in sorted(pins)]


def pins_of(text: str) -> list[tuple[str, str]]:
    """Names and versions of pins in whatever spelling pip takes: extras, spaces, and ``===``."""
    return [(name, version.rstrip(".")) for name, version in _PIN.findall(text)]


def holes(parts: list[Part]) -> list[str]:
    """The known holes of the parts, a line each."""
    known = advisories()
    return [
        f"{p.name} {p.version}: {a.number} ({a.what}); {a.before} has it no more"
        for p in sorted(parts)
        for a in known
        if a.holds(p)
    ]


def audit_jar(path: Path) -> list[str]:
    """What is wrong with a jar, a line each."""
    with ZipFile(path) as jar:
        parts = parts_of(jar)
        names = set(jar.namelist())
        papers = [f"lacks META-INF/{n}" for n in ("LICENSE", "NOTICE") if f"META-INF/{n}" not in names]
        mine = [
            f"{n} is not ours"
            for n in ("LICENSE", "NOTICE")
            if f"META-INF/{n}" in names and not _is_ours(jar, n)
        ]
        unknown = [f"holds classes of a part that says nothing of itself: {n}" for n in silent(jar, parts)]
        unknown += [f"holds an archive of its own: {n}" for n in within(jar)]
    return [f"{path}: {line}" for line in [*papers, *mine, *unknown, *holes([*parts])]]


def _is_ours(jar: ZipFile, name: str) -> bool:
    return jar.read(f"META-INF/{name}") == (ROOT / name).read_bytes()


def main() -> int:
    """Audits the jars, or the pins."""
    jars = sys.argv[1:]
    wrong = [line for jar in jars for line in audit_jar(Path(jar))] if jars else holes(pinned())
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
