"""Answers as text that fits 80 columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from hudiidx._text import size, store_calls

if TYPE_CHECKING:
    from hudiidx.cli.terminal import Terminal
    from hudiidx.verification import RecordDifference, VerifyReport


def table(*columns: tuple[str, str]) -> Table:
    """An open table; a column is its heading and ``left`` or ``right``."""
    t = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading, justify in columns:
        t.add_column(heading, justify="right" if justify == "right" else "left", overflow="fold")
    return t


def partitions(out: Terminal, paths: Sequence[str], limit: int) -> None:
    """One path a line; a table without partitions has the one path ``""``."""
    for path in paths[:limit]:
        out.print(path or '""', soft_wrap=True)
    if len(paths) > limit:
        _total(out, "partition", paths, limit)


def files(out: Terminal, rows: Sequence[Mapping[str, Any]], limit: int) -> None:
    """Files by partition: file id, kind, instant, size. The full names are in the JSON form."""
    for path, group in groupby(rows[:limit], key=lambda r: r["partition_path"]):
        found = list(group)
        _heading(out, path, f"{_many(len(found), 'file')}, {size(sum(r['size'] for r in found))}")
        t = table(("file id", "left"), ("kind", "left"), ("instant", "left"), ("size", "right"))
        for r in found:
            t.add_row(r["file_id"], r["kind"], r["instant_time"], size(r["size"]))
        out.print(t)
    _total(out, "file", rows, limit)


def slices(out: Terminal, rows: Sequence[Mapping[str, Any]], limit: int) -> None:
    """Latest file slices by partition."""
    for path, group in groupby(rows[:limit], key=lambda r: r["partition_path"]):
        found = list(group)
        _heading(out, path, _many(len(found), "slice"))
        t = table(("file id", "left"), ("base instant", "left"), ("base", "right"), ("logs", "right"))
        for r in found:
            base, logs = r.get("base_file"), r.get("log_files") or []
            logged = f"{len(logs)}: {size(sum(x['size'] for x in logs))}" if logs else "-"
            t.add_row(r["file_id"], r["base_instant_time"], size(base["size"]) if base else "-", logged)
        out.print(t)
    _total(out, "slice", rows, limit)


def locations(out: Terminal, document: Mapping[str, Any]) -> None:
    """Locations of keys by partition, then the keys that have none."""
    rows = sorted(document["locations"], key=lambda r: (r["partition_path"], r["file_id"]))
    for path, group in groupby(rows, key=lambda r: r["partition_path"]):
        found = list(group)
        _heading(out, path, _many(len(found), "record"))
        t = table(("key", "left"), ("file id", "left"), ("instant", "left"))
        for r in found:
            t.add_row(r["key"], r["file_id"], r["instant_time"])
        out.print(t)
    days = document["window_days"]
    why = f"not in the index's window of {days} days" if days else "not found"
    for key in document["missing"]:
        out.print(f"{why}: {key}", soft_wrap=True)
    out.print(_work(document["work"]), style="dim")


def rows(out: Terminal, document: Mapping[str, Any]) -> None:
    """Records, a column a line, then the keys that have none."""
    for row in document["rows"]:
        t = table(("column", "left"), ("value", "left"))
        for name, value in row.items():
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            t.add_row(name, shown)
        out.print(t)
    for key in document["missing"]:
        out.print(f"not found: {key}", soft_wrap=True)


def log_blocks(out: Terminal, document: Mapping[str, Any]) -> None:
    """Blocks of a log file, with their keys in a line below."""
    t = table(
        ("block", "right"),
        ("kind", "left"),
        ("instant", "left"),
        ("size", "right"),
        ("records", "right"),
        ("indexed", "left"),
    )
    for b in document["blocks"]:
        count = "-" if b["records"] is None else str(b["records"])
        t.add_row(str(b["block"]), b["kind"], b["instant_time"] or "-", size(b["size"]), count, b["indexed"])
    out.print(t)
    for b in document["blocks"]:
        if b["min_key"] is not None:
            out.print(
                f"block {b['block']}: keys {b['min_key']} to {b['max_key']}",
                soft_wrap=True,
            )


def log_hits(out: Terminal, document: Mapping[str, Any]) -> None:
    """Versions of keys in a log file, then the keys that it has none of."""
    t = table(("key", "left"), ("block", "right"), ("kind", "left"), ("instant", "left"), ("deletes", "left"))
    for h in document["hits"]:
        t.add_row(
            h["key"],
            str(h["block"]),
            h["kind"],
            h["instant_time"] or "-",
            "yes" if h["is_delete"] else "",
        )
    if document["hits"]:
        out.print(t)
    for key in document["missing"]:
        out.print(f"not found: {key}", soft_wrap=True)
    work = document["work"]
    told = f"{work['whole_blocks']} blocks read whole, {size(work['bytes_read'])} read"
    out.print(told, style="dim")


def _work(w: Mapping[str, int]) -> str:
    """A lookup in one line, or two."""
    opened, decoded = _many(w["groups_opened"], "group"), _many(w["pages_decoded"], "page")
    index = f"{opened}, {decoded}, {size(w['bytes_read'])} read"
    beside = [
        f"{n} {what}"
        for n, what in (
            (w["filtered"], "mappings filtered"),
            (w["slices_read"], "file slices read"),
            (w["slices_kept"], "file slices kept in memory"),
        )
        if n
    ]
    told = filter(None, [index, *beside, store_calls(w)])
    return f"{w['hits']} of {w['keys']} keys found; " + ", ".join(told)


def info(out: Terminal, document: Mapping[str, Any]) -> None:
    """The state first, then what is known."""
    t = Table(box=None, show_header=False, pad_edge=False)
    t.add_column(style="dim")
    t.add_column(overflow="fold")
    for name, value in document.items():
        if value in (None, "", {}, []):
            continue
        t.add_row(name.replace("_", " "), _value(name, value))
    out.print(t)


def compacted(out: Terminal, document: Mapping[str, Any]) -> None:
    """A line for each compaction that ran."""
    done = document["compactions"]
    for c in done:
        out.print(
            f"{c['instant']}: {c['log_files']:,} log files of {c['file_groups']:,} file groups "
            f"({size(c['bytes_read'])}) in base files of {size(c['bytes_written'])}, {c['rows']:,} rows, "
            f"{c['elapsed_millis'] / 1000:.1f} s"
        )
    planned = document["scheduled"]
    if planned and all(c["instant"] != planned for c in done):
        out.print(f"{planned}: planned")
    elif not done:
        out.print("no log files to compact")


def differences(out: Terminal, found: Sequence[Mapping[str, Any]]) -> None:
    """One paragraph a difference: wide tables do not fit."""
    for d in found:
        place = "/".join(str(x) for x in (d.get("partition"), d.get("file")) if x)
        out.print(f"{d['kind']}  {place}", style="bold", soft_wrap=True)
        out.print(f"  {d['detail']}")
        out.print(f"  likely cause: {d['cause']}")


def record_differences(out: Terminal, found: Sequence[RecordDifference]) -> None:
    """As `differences`, of keys."""
    for d in found:
        place = "/".join(x for x in (d.partition, d.file_id) if x)
        out.print(f"{d.kind}  {d.key}  {place}", style="bold", soft_wrap=True)
        out.print(f"  {d.detail}")
        out.print(f"  likely cause: {d.cause}")


def verified(out: Terminal, found: VerifyReport) -> None:
    """Differences first, then what was compared."""
    differences(out, [vars(d) for d in found.differences])
    summary: dict[str, Any] = {"differences": str(len(found.differences)), **found.counts}
    if found.record:
        record_differences(out, found.record.samples)
        summary["record index"] = {
            "keys": found.record.keys,
            "mappings": found.record.mappings,
            "file groups": found.record.file_groups,
            **{kind: n for kind, n in found.record.counts.items() if n},
        }
    stock = found.stock_record_index
    if stock and stock.skipped:
        summary["Hudi's record index"] = f"not compared: {stock.skipped}"
    elif stock:
        record_differences(out, stock.samples)
        reasons = {**stock.only_in_hudi, **stock.only_in_index}
        summary["Hudi's record index"] = {"equal": stock.equal, **{k: n for k, n in reasons.items() if n}}
    if found.columns:
        for c in found.columns.samples:
            place = "/".join(x for x in (c.partition, c.file) if x)
            out.print(f"{c.kind}  {c.column}  {place}", style="bold", soft_wrap=True)
            out.print(f"  {c.detail}")
        summary["indexes on columns"] = {
            "files": found.columns.files,
            "uncovered": found.columns.uncovered,
            "equal": found.columns.equal,
            **{kind: n for kind, n in found.columns.counts.items() if n},
        }
    info(out, summary)


def perf(out: Terminal, document: Mapping[str, Any]) -> None:
    """RFC-15's ``metadata perf`` table, whatever measurements it holds: lists of rows become tables."""
    for name, value in document.items():
        rows = value if isinstance(value, list) else []
        if rows and isinstance(rows[0], Mapping):
            out.print(name.replace("_", " "), style="bold")
            heads = list(dict.fromkeys(k for r in rows for k in r))
            t = table(
                *(
                    (h.replace("_", " "), "left" if isinstance(rows[0].get(h), str) else "right")
                    for h in heads
                )
            )
            for r in rows:
                t.add_row(*(_value(h, r.get(h)) for h in heads))
            out.print(t)
        elif value is not None:
            out.print(f"{name.replace('_', ' ')}: {_value(name, value)}")


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _heading(out: Terminal, path: str, rest: str) -> None:
    out.print(f"{path or '(no partition)'}: {rest}", style="bold")


def _total(out: Terminal, what: str, rows: Sequence[Any], limit: int) -> None:
    if len(rows) > limit:
        out.print(f"the first {limit} {what}s; --limit N shows more, --json all")
    else:
        out.print(_many(len(rows), what))


def _record(r: Mapping[str, Any]) -> str:
    """A record index in one line."""
    window = f", window {r['window_days']} days" if r["window_days"] else ""
    files = f"{r['base_files']} base and {r['delta_files']} delta files"
    held = f"{_many(r['mappings'], 'mapping')} in {_many(r['file_groups'], 'group')}"
    return f"{r['mode']}{window}, {held}, {files}, {size(r['size'])}"


def _columns(indexes: Sequence[Mapping[str, Any]]) -> str:
    """Indexes on columns in one line."""
    texts = []
    for i in indexes:
        options = "".join(f", {name}={value}" for name, value in i["options"].items())
        texts.append(f"{i['kind']}({', '.join(i['columns'])}{options}){' pending' if i['pending'] else ''}")
    return "; ".join(texts) or "-"


def _value(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name == "columns" and isinstance(value, list):
        return _columns(value)
    if name == "record":
        return _record(value)
    if isinstance(value, Mapping):
        byte_counts = name in ("bytes", "bytes_by_kind", "index_files")
        return ", ".join(f"{k} {size(v) if byte_counts else v}" for k, v in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        if name == "size" or name.endswith("bytes"):
            return size(value)
        return str(value) if "version" in name else f"{value:,}"
    return str(value)
