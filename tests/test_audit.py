"""What is shipped has no known hole, and its licences; what is installed is what was pinned, by its hash."""

import re
import struct
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import audit
import pytest
from stored import ROOT

from hudiidx.session import jar_path

LISTS = [*sorted((ROOT / "python").glob("requirements-*.txt")), ROOT / "benchmarks" / "requirements.txt"]
LISTS += [*sorted((ROOT / "docker").glob("requirements*.txt"))]
PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([\w.]+)(?:; [^\\]*?)? \\$")


def test_the_jars_of_the_wheel_have_no_known_hole_and_our_licence() -> None:
    jars = sorted(jar_path().parent.glob("*.jar"))
    assert len(jars) >= 2
    assert [line for jar in jars for line in audit.audit_jar(jar)] == []


def test_the_pinned_packages_have_no_known_hole() -> None:
    parts = audit.pinned()
    assert len(parts) > 80
    assert audit.holes(parts) == []


def test_make_audits_the_jars_and_pins_that_it_uses() -> None:
    """What sbt assembles, `JarCheck.scala` audits; the rest is audited before it is copied or installed."""
    rules = dict(re.findall(r"^(\S+): .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE))
    writers, packages = rules["$(JAR)"].splitlines(), rules["$(STAMPS)/venv"].splitlines()
    audit_of = "\tpython3 scripts/audit.py"
    copied = next(i for i, line in enumerate(writers) if "cp jvm/hudi/target" in line)
    jar = writers[copied].split()[1]
    assert f"{audit_of} {jar}" in writers[:copied]
    assert audit_of in packages[: next(i for i, line in enumerate(packages) if "PIP_INSTALL" in line)]
    assert len(re.findall(r"assembly := JarCheck\.onlyOurs\w*\(", (ROOT / "build.sbt").read_text())) == 2


def test_an_audit_that_finds_something_ends_the_build(tmp_path: Path) -> None:
    jar = pack(tmp_path / "x.jar", said("io.airlift", "aircompressor", "0.26"))
    command = [sys.executable, ROOT / "scripts" / "audit.py"]
    done = subprocess.run([*command, jar], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "CVE-2024-36114" in done.stderr
    subprocess.run(command, check=True)


def test_every_pinned_package_has_hashes_and_nothing_else_is_installed() -> None:
    assert len(LISTS) >= 7
    for file in LISTS:
        lines = [x for x in file.read_text().splitlines() if x and not x.startswith("#")]
        heads = [i for i, line in enumerate(lines) if not line.startswith(" ")]
        assert len(heads) > 1, file
        for at, until in zip(heads, [*heads[1:], len(lines)], strict=True):
            assert PIN.match(lines[at]), f"{file}: {lines[at]}"
            hashes = lines[at + 1 : until]
            assert hashes and all(
                re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}(?: \\)?", h) for h in hashes
            ), f"{file}: {lines[at]}"


def test_every_installation_asks_for_hashes_or_is_of_our_own_wheel() -> None:
    files = [
        ROOT / "Makefile",
        ROOT / "docker" / "Dockerfile",
        ROOT / ".ci" / "run",
        *(ROOT / "scripts").iterdir(),
    ]
    found = 0
    for file in files:
        if not file.is_file():
            continue
        for line in file.read_text(encoding="utf-8").replace("\\\n", " ").replace("&&", "\n").splitlines():
            if not re.search(r"\bpip install\b", line) or "how '" in line:
                continue
            found += 1
            ours = "--no-deps" in line and re.search(r"\$\(WHEEL\)|/tmp/\*\.whl|\.whl", line)
            assert ours or "--require-hashes" in line, f"{file}: {line}"
    assert found >= 5


def test_lists_agree_on_each_packages_version() -> None:
    by_name: dict[str, set[str]] = {}
    for file in LISTS:
        if "docs" in file.name:  # Sphinx needs older ones.
            continue
        for name, version in re.findall(r"^([\w.-]+)==([\w.]+)", file.read_text(), re.MULTILINE):
            by_name.setdefault(name.lower().replace("_", "-"), set()).add(version)
    by_name.pop("pyspark")
    assert {n: v for n, v in by_name.items() if len(v) > 1} == {}


def pack(path: Path, files: dict[str, bytes]) -> Path:
    with ZipFile(path, "w") as jar:
        for name in ("LICENSE", "NOTICE"):
            jar.writestr(f"META-INF/{name}", (ROOT / name).read_bytes())
        for name, content in files.items():
            jar.writestr(name, content)
    return path


def said(group: str, artifact: str, version: str) -> dict[str, bytes]:
    text = f"#Generated\ngroupId={group}\nartifactId={artifact}\nversion={version}\n"
    return {f"META-INF/maven/{group}/{artifact}/pom.properties": text.encode()}


def constants(*texts: str) -> bytes:
    """The texts as a class file has them."""
    return b"\xca\xfe\xba\xbe" + b"".join(b"\x01" + struct.pack(">H", len(t)) + t.encode() for t in texts)


@pytest.mark.parametrize(
    ("artifact", "version", "hole"),
    [
        ("aircompressor", "0.27", "CVE-2025-67721"),
        ("aircompressor", "0.26", "CVE-2024-36114"),
        ("aircompressor", "2.0.3", None),
    ],
)
def test_a_part_with_a_known_hole_is_named(
    tmp_path: Path, artifact: str, version: str, hole: str | None
) -> None:
    jar = pack(tmp_path / "x.jar", said("io.airlift", artifact, version))
    found = audit.audit_jar(jar)
    assert (hole is None and found == []) or (len(found) == 1 and hole is not None and hole in found[0])


def test_a_copy_of_jackson_in_another_part_is_found_by_its_classes(tmp_path: Path) -> None:
    inside = {
        "shaded/parquet/com/fasterxml/jackson/core/json/PackageVersion.class": constants(
            "x", "2.19.2", "jackson-core"
        )
    }
    found = audit.audit_jar(pack(tmp_path / "x.jar", inside))
    assert any("jackson-core 2.19.2: GHSA-r7wm-3cxj-wff9" in line for line in found)


def test_classes_of_a_part_that_says_nothing_of_itself_are_an_error(tmp_path: Path) -> None:
    inside = {"hudiidx/shaded/airlift/compress/X.class": b"", "hudiidx/shaded/guava/Y.class": b""}
    found = audit.audit_jar(pack(tmp_path / "x.jar", inside))
    assert [line.rsplit(": ", 1)[1] for line in found] == ["airlift/compress", "guava"]


def test_classes_and_archives_in_other_places_are_an_error_too(tmp_path: Path) -> None:
    inside = {
        "hudiidx/core/A.class": b"",
        "org/yaml/snakeyaml/Yaml.class": b"",
        "META-INF/versions/9/hudiidx/shaded/evil/E.class": b"",
        "lib/log4j-core-2.14.1.jar": b"",
    }
    found = audit.audit_jar(pack(tmp_path / "x.jar", inside))
    assert [line.rsplit(": ", 1)[1] for line in found] == [
        "evil",
        "org/yaml/snakeyaml",
        "lib/log4j-core-2.14.1.jar",
    ]


def test_pins_are_found_in_every_spelling() -> None:
    pins = [
        "requests[socks]==2.31.0 \\",
        "tornado == 6.4.0",
        "urllib3===2.0.1",
        "pip==24.1rc1 --hash=sha256:0",
    ]
    text = "\n".join([*pins, "a>=1.0"])
    assert audit.pins_of(text) == [
        ("requests", "2.31.0"),
        ("tornado", "6.4.0"),
        ("urllib3", "2.0.1"),
        ("pip", "24.1rc1"),
    ]


def test_a_jar_without_our_licence_or_with_anothers_is_an_error(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "x.jar", "w") as jar:
        jar.writestr("META-INF/NOTICE", "another's")
    found = audit.audit_jar(tmp_path / "x.jar")
    assert [line.split(": ", 1)[1] for line in found] == ["lacks META-INF/LICENSE", "NOTICE is not ours"]


def test_versions_are_compared_as_numbers() -> None:
    assert audit.key("2.9.10") < audit.key("2.10.0") < audit.key("2.10.1")
    assert audit.key("2.0") == audit.key("2.0.0") == audit.key("2.0.0.Final")
    assert audit.key("6.3") < audit.key("6.4.0rc1") < audit.key("6.4") and audit.key(
        "2.18.9-rc1"
    ) < audit.key("2.18.9")
    for advisory in audit.advisories():
        assert audit.key(advisory.since) < audit.key(advisory.before), advisory
