"""The tables of docs/dependencies.md: what comes with hudiidx, and under which licences.

Usage: dependencies_page.py [--check]

Python packages are the wheel's own requirements and theirs, in the versions that the environment has
and with the licences that they declare; what the jar for Hive holds is read from the build. With --check
it only says whether the page is as made (exit code 1 if not).
"""

import re
import sys
from importlib.metadata import PackageMetadata, metadata, requires
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "dependencies.md"
_MARK = re.compile(r"(<!-- dependencies: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_NAME = re.compile(r"^[A-Za-z0-9._-]+")
_JAR = re.compile(r'"([\w.]+)" % "([\w-]+)" % (\w+)')
_LICENCES = {
    "Apache-2.0": ("org.apache", "com.fasterxml", "io.airlift", "org.scala-lang"),
    "BSD-3-Clause": ("org.locationtech.jts",),  # its other licence, EPL-2.0, is not chosen
}
_SPDX = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
}


def packages() -> list[list[str]]:
    """Package, version, licence: what an installed wheel needs, and what that needs."""
    found: dict[str, list[str]] = {}
    left = ["hudiidx"]
    while left:
        for wanted in requires(left.pop()) or []:
            name = _NAME.match(wanted)
            if not name or "extra ==" in wanted or _is_elsewhere(wanted) or name.group() in found:
                continue
            of = metadata(name.group())
            found[name.group()] = [of["Name"], of["Version"], _licence(of)]
            left.append(name.group())
    return sorted(found.values(), key=lambda row: row[0].lower())


def _is_elsewhere(wanted: str) -> bool:
    """For another Python or system than the tests run on."""
    return "python_version <" in wanted or "platform_system" in wanted


def _licence(of: PackageMetadata) -> str:
    classes = [x.rsplit(":: ", 1)[1] for x in of.get_all("Classifier") or [] if "License ::" in x]
    said = [*(of.get_all("License-Expression") or []), *classes, *(of.get_all("License") or [])]
    if not said:
        raise ValueError(f"{of['Name']} declares no licence; look it up")
    return _SPDX.get(said[0], said[0])


def hive_jars() -> list[list[str]]:
    """Artifact, version, licence: what the jar for Hive and MapReduce holds beside classes of ours."""
    shaded = (ROOT / "project" / "Shaded.scala").read_text()
    versions = dict(re.findall(r'val (\w+) = "([\d.]+)"', shaded))
    rows = [[f"{group}:{name}", versions[field]] for group, name, field in _JAR.findall(shaded)]
    line = (ROOT / "project" / "SparkVersions.scala").read_text()
    scala = re.search(r'SparkLine\("[^"]*", "([^"]*)"', line)
    rows.append(["org.scala-lang:scala-library", scala.group(1) if scala else "?"])
    return sorted([*row, _licence_of_jar(row[0])] for row in rows)


def _licence_of_jar(name: str) -> str:
    found = [licence for licence, groups in _LICENCES.items() if name.startswith(groups)]
    if not found:
        raise ValueError(f"{name}: its licence is not known; look it up, and add it here and to NOTICE")
    return found[0]


def pages() -> list[list[str]]:
    """What reports and other pages hold."""
    script = (ROOT / "python" / "hudiidx" / "report" / "vendor" / "uPlot.iife.min.js").read_text()
    version = re.search(r"\(v([\d.]+)\)", script)
    return [["uPlot", version.group(1) if version else "?", "MIT"]]


def with_tables(page: str) -> str:
    """The page with its tables as they are now."""
    made = {"packages": packages(), "hive": hive_jars(), "pages": pages()}
    heads = {"packages": "package", "hive": "artifact", "pages": "library"}

    def table(name: str) -> str:
        lines = [[heads[name], "version", "licence"], ["---"] * 3, *made[name]]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    return _MARK.sub(lambda m: f"{m.group(1)}\n{table(m.group(2))}\n\n{m.group(3)}", page)


def main() -> int:
    """Writes or checks the page."""
    page = PAGE.read_text(encoding="utf-8")
    made = with_tables(page)
    if "--check" in sys.argv:
        return 0 if made == page else 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
