"""What a query reads, as a tree of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hudiidx._text import shown, store_calls

_LEAF = "+- "


def explanation(scans: Sequence[Mapping[str, Any]]) -> str:
    """One branch a scan, one leaf a stage of planning."""
    return "\n".join(line for scan in scans for line in _branch(_title(scan), _stages(scan)))


def reasons(scans: Sequence[Mapping[str, Any]]) -> str:
    """One branch a scan, one leaf for each index that left nothing out."""
    found = [(_title(s), [f"{w['index']}: {w['reason']}" for w in s["why_not"]]) for s in scans]
    return "\n".join(
        line for title, leaves in found for line in _branch(title, leaves or ["every index helped"])
    )


def _branch(title: str, leaves: Sequence[str]) -> list[str]:
    return [shown(title)] + [f"{_LEAF}{shown(leaf)}" for leaf in leaves]


def _title(scan: Mapping[str, Any]) -> str:
    return f"hudiidx {scan['path']} {scan['reads']}: {scan['answered']}"


def _stages(scan: Mapping[str, Any]) -> list[str]:
    filters = ", ".join(scan["file_filters"]) or "none"
    left = scan["files_left"]
    return [
        f"index: {_index(scan)}",
        f"partitions: {_kept(scan['partitions'])}; {left['partitions']} of {scan['files_total']} files left",
        f"record keys: {_keys(scan['record_keys'])}; {left['record_keys']} files left",
        *_columns(scan["columns"], left),
        f"files: {scan['files_kept']} of {scan['files_total']}, {scan['bytes_kept']} bytes",
        f"filters for Parquet: {filters}",
        f"planned in {scan['planning_millis']} ms{_asked(scan)}",
    ]


def _asked(scan: Mapping[str, Any]) -> str:
    told = store_calls(scan)
    return f", by {told}" if told else ""


def _index(scan: Mapping[str, Any]) -> str:
    if scan["index_version"] is not None:
        held = f"{scan['files_in_index']} files of all instants"
        return f"version {scan['index_version']}, {scan['instants_overlaid']} instants overlaid; {held}"
    fallback = scan["fallback"]
    return "not needed" if fallback is None else f"not used, {fallback['code']}: {fallback['why']}"


def _kept(stage: Mapping[str, Any]) -> str:
    return f"{stage['kept']} of {stage['total']}{_why(stage)}"


def _keys(stage: Mapping[str, Any]) -> str:
    if stage["keys"] is None:
        return f"not looked up{_why(stage)}"
    unknown = stage["unknown_groups"]
    more = f" and {unknown} that the index has not taken in" if unknown else ""
    return f"{stage['keys']} keys in {stage['file_groups']} file groups{more}"


def _columns(stage: Mapping[str, Any], left: Mapping[str, int]) -> list[str]:
    """What the column indexes did, and each part of the filters by itself."""
    if stage["why_not"] is not None:
        return [f"columns: nothing left out{_why(stage)}"]
    skipped = f"{stage['partitions_skipped']} partitions whole, {stage['files_skipped']} files in all"
    stages = f"bounds left {left['bounds']} files, blooms and values {left['blooms']}"
    parts = dict.fromkeys(f"  {_part(p)}" for p in stage["parts"])  # of several that say the same, one
    return [f"columns: left out {skipped}; {stages}", *parts]


def _part(part: Mapping[str, Any]) -> str:
    name = part["column"] or "filter"
    if part["why_not"] is not None:
        return f"{name}: {part['why_not']}"
    kinds = " and ".join(part["kinds"]) or "range"
    files = f"{part['files']} files, superseded ones too,"
    return f"{name}: {kinds} ruled out {files} and {part['partitions']} partitions"


def _why(stage: Mapping[str, Any]) -> str:
    return "" if stage["why_not"] is None else f" ({stage['why_not']})"
