"""Mutation tests of core by PIT: what is changed in the code, and which changes no test notices.

Usage: mutation.py [--threads N] [PACKAGE]...

PACKAGE is one of core's, as `bytes` or `table.listing`, or `hudiidx` itself; all of them unless told. Each
one's row of docs/reliability.md is written anew, and what survived stands in build/mutation/<package>.txt:
file, line, method, and what was changed there. PIT changes byte code, so some of it is what Scala's compiler
made.
"""

import argparse
import datetime
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import reliability

ROOT = reliability.ROOT
FOLDER = ROOT / "build" / "mutation"
CORE = ROOT / "jvm" / "core"
POM = ROOT / "scripts" / "mutation" / "pom.xml"
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
# All packages stand in it, and some classes by themselves.
BASE = "hudiidx"
BEGIN, END = "<!-- mutations -->", "<!-- end of mutations -->"
HEAD = [
    "| package | changes | noticed | not noticed | in code that no test of core runs | last run |",
    "|---|---|---|---|---|---|",
]
# Made by the compiler for case classes, default arguments and lambdas.
MADE = [
    "hashCode",
    "equals",
    "toString",
    "product*",
    "canEqual",
    "copy*",
    "readResolve",
    "writeReplace",
    "unapply",
]
MADE += ["$deserializeLambda$", "*$default$*"]
# They look at sources and documents.
NO_TESTS_OF_CODE = {"hudiidx.PackageOrderSuite"}
NOTICED = {"KILLED", "TIMED_OUT", "MEMORY_ERROR", "RUN_ERROR"}


def class_path() -> str:
    """PIT with what it needs, then core with its tests."""
    tools = FOLDER / "classpath"
    tools.parent.mkdir(parents=True, exist_ok=True)
    maven = ["mvn", "-q", "-B", "-f", str(POM), f"{PLUGIN}:build-classpath", f"-Dmdep.outputFile={tools}"]
    subprocess.run(maven, check=True)
    exported = subprocess.run(
        ["build/sbt", "export core/Test/fullClasspath"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return f"{tools.read_text().strip()}:{exported.stdout.splitlines()[-1]}"


def packages() -> list[str]:
    """Core's, as the sources have them."""
    root = CORE / "src" / "main" / "scala" / "hudiidx"
    found = {file.parent.relative_to(root) for file in root.rglob("*.scala")}
    return sorted(BASE if str(p) == "." else str(p).replace("/", ".") for p in found)


def classes(package: str) -> list[str]:
    """Patterns of a package's own classes, without those of packages within."""
    path = BASE if package == BASE else f"{BASE}.{package}"
    folder = next(CORE.glob("target/scala-*/classes")) / path.replace(".", "/")
    names = sorted({file.stem.split("$")[0] for file in folder.glob("*.class")})
    return [pattern for name in names for pattern in (f"{path}.{name}", f"{path}.{name}$*")]


def test_source(suite: str) -> Path:
    """Where a suite's source is."""
    return CORE / "src" / "test" / "scala" / f"{suite.replace('.', '/')}.scala"


def suites() -> list[str]:
    """All suites of core but those that look at no code that runs."""
    folder = next(CORE.glob("target/scala-*/test-classes"))
    found = (str(f.relative_to(folder)).removesuffix(".class") for f in folder.rglob("*Suite.class"))
    return sorted({name.replace("/", ".") for name in found} - NO_TESTS_OF_CODE)


def run(names: list[str], path: str, threads: int) -> dict[str, list[dict[str, str]]]:
    """What PIT changed in each package, with what became of it."""
    report = FOLDER / "report"
    arguments = {
        "targetClasses": ",".join(pattern for name in names for pattern in classes(name)),
        "targetTests": ",".join(suites()),
        "excludedMethods": ",".join(MADE),
        "sourceDirs": str(CORE / "src" / "main" / "scala"),
        "reportDir": str(report),
        "outputFormats": "XML",
        "timestampedReports": "false",
        "threads": str(threads),
        "jvmArgs": "-Xmx1g",
    }
    command = ["java", "-cp", path, "org.pitest.mutationtest.commandline.MutationCoverageReport"]
    command += [word for name, value in arguments.items() for word in (f"--{name}", value)]
    # The same random inputs for each change.
    subprocess.run(command, cwd=ROOT, env={**os.environ, "HUDIIDX_TEST_SEED": "1"}, check=True)
    found: dict[str, list[dict[str, str]]] = {name: [] for name in names}
    for change in ElementTree.parse(report / "mutations.xml").getroot().iter("mutation"):
        fields = {**change.attrib, **{child.tag: child.text or "" for child in change}}
        found[package_of(fields["mutatedClass"])].append(fields)
    return found


def package_of(class_name: str) -> str:
    """Which of core's packages a class stands in."""
    return class_name.removeprefix(f"{BASE}.").rpartition(".")[0] or BASE


def row(package: str, changes: list[dict[str, str]]) -> str:
    """A package's row of the page."""
    states = Counter(change["status"] for change in changes)
    noticed, unseen = sum(states[s] for s in NOTICED), states["NO_COVERAGE"]
    survived = len(changes) - noticed - unseen
    share = f"{100 * noticed / max(1, noticed + survived):.0f}%"
    when = f"{datetime.date.today()}, {reliability.commit()}"
    cells = [
        package,
        f"{len(changes):,}",
        f"{noticed:,} ({share} of what runs)",
        f"{survived:,}",
        f"{unseen:,}",
    ]
    return f"| {' | '.join([*cells, when])} |"


def survivors(changes: list[dict[str, str]]) -> str:
    """One line for each change that tests ran and did not notice."""
    lines = [
        (c["sourceFile"], int(c["lineNumber"]), f"{c['mutatedMethod']}: {c['description']}")
        for c in changes
        if c["status"] == "SURVIVED"
    ]
    return "".join(f"{file}:{line} {what}\n" for file, line, what in sorted(lines))


def with_row(page: str, package: str, new: str) -> str:
    """The page with the package's row in place of the one that it had."""
    before, rest = page.split(BEGIN)
    old, after = rest.split(END)
    rows = {line.split("|")[1].strip(): line for line in old.splitlines() if line.startswith("| ")}
    rows = {name: line for name, line in rows.items() if name in packages()} | {package: new}
    return before + "\n".join([BEGIN, *HEAD, *(rows[p] for p in sorted(rows)), END]) + after


def main() -> int:
    """Runs PIT on the packages and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "packages", nargs="*", metavar="PACKAGE", help=f"of {', '.join(packages())}; all of them"
    )
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    if unknown := set(arguments.packages) - set(packages()):
        parser.error(f"core has no package {', '.join(sorted(unknown))}; it has {', '.join(packages())}")
    path = class_path()
    found = run(arguments.packages or packages(), path, arguments.threads)
    for package, changes in found.items():
        (FOLDER / f"{package}.txt").write_text(survivors(changes))
        new = row(package, changes)
        reliability.PAGE.write_text(with_row(reliability.PAGE.read_text(), package, new))
        print(new, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
