"""The fixture tables, and what stock Hudi said about each, in the types of ``hudiidx.model``."""

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hudiidx import BaseFile, FileGroup, FileSlice, LogFile

FIXTURES = Path(__file__).parent / "fixtures"
ROOT = FIXTURES.parent.parent
WRITES = ("commit", "deltacommit", "replacecommit")

# Tables with base files in a format that is refused, whatever is asked.
REFUSED = ("ty-lance-blob-cow", "ty-lance-cow")

# Of these stock 1.2.0 puts log files that version 6 wrote into later file slices, by completion. Here they
# stay in the slices that they name, as docs/decisions.md says of log files on upgraded tables.
WITH_MOVED_LOGS = ("up-v6-mor-event", "up-v6-mor-part")

# The calls on one partition, each with the field of the stored listing that answers it.
BASE_FILE_CALLS = {"all_base_files": "allBaseFiles", "latest_base_files": "latestBaseFiles"}
SLICE_CALLS = {
    "all_file_slices": "allFileSlices",
    "latest_file_slices": "latestFileSlices",
    "latest_uncompacted_file_slices": "latestUnCompactedFileSlices",
    "latest_merged_file_slices": "latestMergedBeforeOrOn",
}
_SAME = re.compile(r"same as (\w+)")
_EARLIER = re.compile(r"v[689]-")
_LOG_VERSION = re.compile(r"\.log\.(\d+)")


@dataclass(frozen=True)
class Fixture:
    """A fixture table and its stored answers."""

    name: str
    answers: dict[str, Any] = field(repr=False, hash=False, compare=False)

    @property
    def copy_on_write(self) -> bool:
        return self.answers["table_type"] == "COPY_ON_WRITE"

    @property
    def merged_by_hudi(self) -> bool:
        """A payload class of its own merges the rows, which only Hudi can run."""
        return self.answers["table_config"].get("hoodie.record.merge.mode") == "CUSTOM"

    @property
    def partitions(self) -> list[str]:
        """None of a table without commits, of which stock was asked for rows alone."""
        return sorted(self.answers.get("listing", {}).get("partitions", []))

    @property
    def version(self) -> int:
        return int(self.answers["table_version"])

    def unpack(self, into: Path) -> Path:
        """The table in a fresh folder."""
        table = into / Path(self.name).name
        shutil.rmtree(table, ignore_errors=True)
        with zipfile.ZipFile(FIXTURES / f"{self.name}.zip") as z:
            z.extractall(into)
        return table

    def _listed(self, partition: str) -> dict[str, Any]:
        return self.answers["listing"]["per_partition"][partition]

    def _stored(self, partition: str, name: str) -> list[Any]:
        found = self._listed(partition).get(name, [])
        if isinstance(found, dict):
            found = found["slices"]
        same = _SAME.match(found) if isinstance(found, str) else None
        return self._stored(partition, same.group(1)) if same else found

    def sizes(self, partition: str) -> dict[str, int]:
        """File name to bytes, of every committed file.

        On version 6 a rollback tells stock's metadata table the size 1 of a failed write's log files; the
        listing by file system has the true one.
        """
        by_file_system = self.answers.get("listing_by_file_system")
        on_storage: dict[str, int] = {}
        if isinstance(by_file_system, dict):
            on_storage = dict(by_file_system["per_partition"][partition]["files"])
        listed = dict(self._listed(partition)["files"])
        return {n: on_storage.get(n, size) if size == 1 else size for n, size in listed.items()}

    def base_files(self, partition: str, call: str) -> list[BaseFile]:
        rows = self._stored(partition, BASE_FILE_CALLS[call])
        found = [BaseFile(partition, b["fileId"], b["instant"], b["name"], b["size"]) for b in rows]
        return sorted(found, key=lambda b: (b.file_id, b.instant_time))

    def slices(self, partition: str, call: str, *, rewritten: bool = True) -> list[FileSlice]:
        sizes = self.sizes(partition)
        told = self._stored(partition, SLICE_CALLS[call])
        if rewritten and self.name in WITH_MOVED_LOGS:
            told = as_named(told, self._stored(partition, "allFileSlices"))
        found = [slice_of(partition, s, sizes) for s in told]
        return sorted(found, key=lambda s: (s.file_id, s.base_instant_time))

    def file_groups(self, partition: str) -> list[FileGroup]:
        return [FileGroup(partition, f) for f in sorted(self._listed(partition)["allFileGroups"])]

    def key_locations(self) -> list[tuple[str, str, str]]:
        """Key, partition path and file id of the rows that stock names, sorted; empty where it names none."""
        told = self.answers.get("key_location") or {}
        partitions, file_ids = told.get("partitions", []), told.get("fileIds", [])
        return sorted((key, partitions[p], file_ids[f]) for key, p, f in told.get("rows", []))

    def tail(self) -> int:
        """How many completed writes end the timeline, with nothing but writes among them."""
        n = 0
        for instant in reversed(self.answers["active_timeline"]):
            if instant["state"] != "COMPLETED" or instant["action"] not in WRITES:
                break
            n += 1
        return n


def as_named(told: list[Any], every: list[Any]) -> list[Any]:
    """Slices with the log files that name them, of slices as stock gives them."""
    known = {(s["fileId"], s["baseInstant"]) for s in every}
    logs: dict[tuple[str, str], list[str]] = {}
    for s in told:
        for log in s["logs"]:
            named = (s["fileId"], log.split("_")[1].split(".")[0])
            logs.setdefault(named if named in known else (s["fileId"], s["baseInstant"]), []).append(log)
    return [{**s, "logs": logs.get((s["fileId"], s["baseInstant"]), [])} for s in told]


def slice_of(partition: str, s: dict[str, Any], sizes: dict[str, int]) -> FileSlice:
    """A stored slice; log sizes come from the listing."""
    base = s["base"] and BaseFile(partition, s["fileId"], instant_of(s["base"]), s["base"], s["baseSize"])
    logs = tuple(LogFile(n, sizes[n], int(_LOG_VERSION.search(n).group(1))) for n in s["logs"])
    return FileSlice(partition, s["fileId"], s["baseInstant"], base or None, logs)


def instant_of(base_name: str) -> str:
    """The instant in a base file's name: ``<file id>_<write token>_<instant>.<extension>``."""
    return base_name.split("_")[2].split(".")[0]


def load(name: str) -> Fixture:
    return Fixture(name, json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8")))


def names(bad: bool = False) -> list[str]:
    """Names of the fixtures: the good ones, or those damaged on purpose. Those of Hudi 1.2.0 come last."""
    found = sorted((p.stem for p in FIXTURES.glob("*.zip")), key=lambda n: (not _EARLIER.match(n), n))
    return [n for n in found if ("-bad-" in n) == bad and n not in REFUSED]


def damaged(kind: str) -> list[str]:
    """Names of the tables with this kind of damage."""
    return [n for n in names(bad=True) if n.endswith(f"-bad-{kind}")]


def more(folder: str) -> list[str]:
    """Names of tables that one test alone goes through, in a folder of their own."""
    return sorted(f"{folder}/{p.stem}" for p in (FIXTURES / folder).glob("*.json"))


@contextmanager
def rewound(table: Path, fixture: Fixture, instants: int) -> Iterator[None]:
    """The table as it was before its last writes completed: their completed-instant files are put aside."""
    aside = table.parent / f"{table.name}-aside"
    aside.mkdir()
    timeline = table / ".hoodie" if fixture.version < 8 else table / ".hoodie" / "timeline"
    moved = []
    active = fixture.answers["active_timeline"]
    for i in active[len(active) - instants :]:
        for f in timeline.glob(f"{i['requested']}*.{i['action']}"):
            f.rename(aside / f.name)
            moved.append(f)
    assert len(moved) == instants, f"{fixture.name}: {moved}"
    yield
    for f in moved:
        (aside / f.name).rename(f)
    aside.rmdir()
