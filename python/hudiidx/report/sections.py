"""The parts of the page, from the top down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hudiidx._text import counted, seconds, share, size
from hudiidx.report import charts
from hudiidx.report.charts import Chart
from hudiidx.report.markup import Markup, Text, bar, code, joined, moment, section, table, tag

Facts = Mapping[str, Any]

_TYPES = {"COPY_ON_WRITE": "copy on write", "MERGE_ON_READ": "merge on read"}
_RUNS_IN = {"shell": "in a shell", "sql": "in a Spark session with stock Hudi", "python": "in a session"}
_STATES = {"READY": "good", "BUILDING": "fair", "LAGGING": "fair"}
_KINDS = {
    "master_manifest": "file listing",
    "delta_manifest": "file listing, changes",
    "partition_index": "partitions of the listing",
    "column_stats": "bounds of columns",
    "column_records": "blooms, values and other kinds",
}


def header(facts: Facts) -> Markup:
    """Which table, and the numbers that matter most."""
    table_, index, files = facts["table"], facts["index"], facts["files"]
    told = [_TYPES.get(table_["type"], table_["type"]), f"table version {table_['version']}"]
    if table_["record_key"]:
        told.append(f"key {table_['record_key']}")
    if table_["partitioned_by"]:
        told.append(f"partitioned by {table_['partitioned_by']}")
    latest = files["base_bytes"] + files["log_bytes"]
    figures = [
        ("partitions", f"{files['partitions']:,}", ""),
        ("files", f"{files['base_files'] + files['log_files']:,}", f"{files['files']:,} with older slices"),
        ("data", size(latest), f"{size(files['bytes'])} with older slices"),
        (
            "in log files",
            share(files["log_bytes"] / latest if latest else 0.0),
            counted(files["log_files"], "file"),
        ),
        ("index", size(index["size"]), f"{share(index['size'] / latest)} of the data" if latest else ""),
    ]
    cards = (
        tag("div", tag("dt", name), tag("dd", tag("b", n), tag("small", more))) for name, n, more in figures
    )
    return tag(
        "header",
        tag("h1", table_["name"]),
        tag("p", code(table_["path"])),
        tag("p", f"{', '.join(told)}. As of {moment(facts['at_millis'])}."),
        tag("dl", *cards, class_="figures"),
    )


def advice(facts: Facts) -> Markup:
    """What would help, each with its command."""
    found: Sequence[Mapping[str, str]] = facts["advice"]
    if not found:
        return section("What would help", lead="Nothing stands out: the index is in step, and nothing waits.")
    items = (
        tag(
            "li",
            tag("h3", a["title"]),
            tag("p", a["why"]),
            *_command(a),
        )
        for a in found
    )
    return section("What would help", tag("ol", *items, class_="advice"))


def _command(a: Mapping[str, str]) -> Sequence[Markup]:
    """Nothing where no command does it."""
    if not a["command"]:
        return ()
    return tag("pre", code(a["command"]), tabindex="0"), tag("small", _RUNS_IN[a["runs_in"]])


def file_charts(facts: Facts) -> list[Chart]:
    """Files per partition, and how large they are."""
    files = facts["files"]
    found = []
    if files["files_per_partition"]:
        found.append(
            charts.counts(
                "per-partition", "Files per partition", files["files_per_partition"], "partition", "file"
            )
        )
    if files["base_sizes"]:
        found.append(charts.sizes("base-sizes", "Sizes of base files", files["base_sizes"], "base file"))
    return found


def files(facts: Facts, drawn: Sequence[Chart]) -> Markup:
    """The files that a query of the whole table reads."""
    rows: list[Sequence[Text]] = [
        (code(p["partition_path"] or "(the table)"), f"{p['files']:,}", size(p["bytes"]))
        for p in facts["files"]["largest_partitions"]
    ]
    largest = tag(
        "details",
        tag("summary", "Largest partitions"),
        table(("partition", "files", "bytes"), rows, (1, 2)),
    )
    return section("Files", charts.pictured(drawn), largest if rows else Markup(""))


def log_charts(facts: Facts) -> list[Chart]:
    """Log files per slice, and how large they are; none without log files."""
    files = facts["files"]
    if not files["log_files"]:
        return []
    return [
        charts.counts("logs", "Log files per file slice", files["logs_per_slice"], "file slice", "log file"),
        charts.sizes("log-sizes", "Sizes of log files", files["log_sizes"], "log file"),
    ]


def logs(facts: Facts, drawn: Sequence[Chart]) -> Markup:
    """What waits for a compaction."""
    files = facts["files"]
    if facts["table"]["type"] != "MERGE_ON_READ":
        return Markup("")
    if not drawn:
        return section("Compaction debt", lead="No log files wait for a compaction.")
    rows: list[Sequence[Text]] = [
        (
            code(s["partition_path"] or "(the table)"),
            code(s["file_id"]),
            f"{s['log_files']:,}",
            size(s["log_bytes"]),
            size(s["base_bytes"]),
        )
        for s in files["most_logged"]
    ]
    lead = (
        f"{counted(files['slices_with_logs'], 'file slice')} of {files['slices']:,} have log files: "
        f"{size(files['log_bytes'])} that each read merges beside {size(files['base_bytes'])} of base files."
    )
    most = tag(
        "details",
        tag("summary", "Slices with most log files"),
        table(("partition", "file id", "logs", "log bytes", "base bytes"), rows, (2, 3, 4)),
    )
    return section("Compaction debt", charts.pictured(drawn), most, lead=lead)


def timeline_charts(facts: Facts) -> list[Chart]:
    """What writes left; none without writes."""
    return [charts.writes(facts["timeline"])] if facts["timeline"]["writes"] else []


def timeline(facts: Facts, drawn: Sequence[Chart]) -> Markup:
    """The active timeline."""
    found = facts["timeline"]
    done = ", ".join(f"{c['count']:,} {c['action']}" for c in found["completed"]) or "nothing"
    rows: list[Sequence[Text]] = [
        (p["instant_time"], p["action"], p["state"].lower(), _age(facts, p["millis"]))
        for p in found["pending"]
    ]
    pending = Markup("")
    if rows:
        title = f"{counted(found['pending_count'], 'instant')} under way, or left by writers that died"
        pending = joined([tag("h3", title), table(("instant", "action", "state", "since"), rows)])
    return section(
        "Timeline", charts.pictured(drawn), pending, lead=f"On the active timeline completed: {done}."
    )


def _age(facts: Facts, millis: int | None) -> str:
    return "" if millis is None else seconds(max(0.0, (facts["at_millis"] - millis) / 1000))


def index(facts: Facts) -> Markup:
    """The index: in step or not, what it has, how large its parts are."""
    found = facts["index"]
    state = tag("span", found["state"].lower(), class_=f"pill {_STATES.get(found['state'], 'poor')}")
    behind = ""
    if found["state"] == "LAGGING":
        behind = f"{counted(found['instants_behind'], 'instant')}, {seconds(found['lag_seconds'])} behind."
    elif found["reason"]:
        behind = f"{found['reason']}."
    elif found["state"] == "READY":
        behind = f"It knows all instants up to {found['last_synced_instant']}."
    lead = joined([state, " ", behind])
    kinds = sorted(found["bytes_by_kind"].items(), key=lambda kind: -kind[1])
    total = sum(n for _, n in kinds) or 1
    rows: list[Sequence[Text]] = [
        (_KINDS.get(kind, kind.replace("_", " ")), bar(n / total), size(n)) for kind, n in kinds
    ]
    parts = table(("part", "share", "bytes"), rows, (2,)) if rows else Markup("")
    return section("Index", parts, _parts(found), lead=lead)


def _parts(found: Facts) -> Markup:
    told = []
    record = found["record"]
    if record:
        window = f", of the last {record['window_days']} days" if record["window_days"] else ""
        groups = counted(record["file_groups"], "hash group")
        told.append(f"Record index, {record['mode']}: {record['mappings']:,} keys in {groups}{window}.")
    for c in found["columns"]:
        pending = " (pending: the next update makes it)" if c["pending"] else ""
        told.append(f"{c['kind']}: {', '.join(c['columns'])}{pending}")
    return tag("ul", *(tag("li", t) for t in told)) if told else Markup("")


def queries(facts: Facts) -> Markup:
    """Which recorded scans were helped."""
    found, files = facts["scans"], facts["files"]
    if not found["shapes"]:
        setting = code("hudiidx.read.history")
        lead = joined(["No scans are recorded. With the setting ", setting, " they are, and show here."])
        return section("Queries", lead=lead)
    latest = files["base_files"] + files["log_files"]
    rows: list[Sequence[Text]] = []
    for q in found["shapes"]:
        skipped = 1 - q["files_kept"] / latest if latest else 0.0
        rows.append(
            (
                code(q["filters"]),
                f"{q['scans']:,}",
                joined([bar(skipped), tag("span", share(max(0.0, skipped)))]),
                f"{q['files_kept']:,.0f}",
                _helped(q),
                f"{q['planning_millis']:,.0f} ms",
            )
        )
    headings = ("filters", "scans", "skipped", "files read", "helped by", "planned in")
    fell = (
        f" In {counted(found['fallbacks'], 'scan')} the index could not be used."
        if found["fallbacks"]
        else ""
    )
    told = (
        f"The last {counted(found['scans'], 'recorded scan')}, by the shape of their filters. "
        f"Skipped: of the {latest:,} files that the table has now.{fell}"
    )
    return section("Queries", table(headings, rows, (1, 3, 5)), lead=told)


def _helped(q: Facts) -> str:
    helped = []
    if q["partitions_kept"] < q["partitions_total"]:
        helped.append("partitions")
    if q["record_keys"] > 0:
        helped.append("record keys")
    if q["files_skipped_by_columns"] > 0:
        helped.append("columns")
    return ", ".join(helped) or "nothing"
