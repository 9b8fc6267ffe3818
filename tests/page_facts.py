"""Facts as docs/report.md has them, of a table as large as a report tells of any, with harmful names."""

from typing import Any

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
_LONG = "region=" + "a_very_long_partition_value_without_any_blank_" * 4
_ACTIONS = ("commit", "deltacommit", "compaction", "replacecommit")


def bins(*counts: int, first: int = 0) -> list[dict[str, int]]:
    """Powers of two from the given one on."""
    return [
        {"from": 2 ** (first + i - 1) if first + i else 0, "last": 2 ** (first + i) - 1, "count": n}
        for i, n in enumerate(counts)
    ]


def _bounds(n: int) -> dict[str, Any]:
    tones = "0123456789"
    grid = ["".join(tones[(x * y + n) % 10] for x in range(32)) for y in range(32)]
    return {
        "column": f"a_struct.with_parts.column_of_some_length_{n}" if n else HOSTILE,
        "type": "timestamp",
        "least": "2026-01-01T00:00:00Z" if n % 2 else HOSTILE[:39] + "…",
        "greatest": "2026-12-31T23:59:59.999999Z",
        "slices": 100000,
        "unknown": n,
        "empty": 0,
        "deepest": 99 * n,
        "skipped_of_one": n / 40,
        "skipped_of_tenth": n / 50,
        "grid": grid,
    }


def _write(n: int) -> dict[str, Any]:
    return {
        "instant_time": f"20260101000000{n:03d}",
        "action": _ACTIONS[n % 4],
        "operation": "UPSERT",
        "millis": 1767225600000 + n * 3600000,
        "seconds": n / 3 if n % 5 else None,
        "files": n * 100,
        "bytes": n * 300_000_000,
        "inserts": n * 10**7,
        "updates": n * 10**6,
        "deletes": n,
    }


def large_facts() -> dict[str, Any]:
    """Every list as long as it gets."""
    many = [*range(1, 20), *range(19, 0, -1)]
    partitions = [
        {"partition_path": f"{_LONG}{n}", "slices": 9, "files": 10**6 - n, "bytes": 10**14 - n}
        for n in range(9)
    ]
    logged = [
        {
            "partition_path": _LONG,
            "file_id": f"0cb3adb6-1b8d-4a4e-9bd0-9bd1d4c9f0{n}-0",
            "log_files": 99 - n,
            "log_bytes": 10**10,
            "base_bytes": 10**9,
        }
        for n in range(10, 20)
    ]
    shape = {
        "filters": f"(({HOSTILE} > ?) OR (a_struct.with_parts.column_of_some_length_7 IN (?, …)))",
        "scans": 30,
        "last_millis": 1767225600000,
        "files_kept": 1234.5,
        "partitions_kept": 3.0,
        "partitions_total": 3615.0,
        "files_skipped_by_columns": 300.0,
        "record_keys": 4.0,
        "planning_millis": 88.0,
    }
    kinds = (
        "master_manifest",
        "delta_manifest",
        "partition_index",
        "column_stats",
        "record_base",
        "log_index",
    )
    return {
        "at_millis": 1770000000000,
        "table": {
            "path": "s3a://a-bucket-with-a-long-name/warehouse/of/many/tables/" + "trips" * 20,
            "name": HOSTILE,
            "type": "MERGE_ON_READ",
            "version": 9,
            "record_key": "id",
            "partitioned_by": "region",
            "column_count": 40,
        },
        "index": {
            "state": "LAGGING",
            "reason": "",
            "instants_behind": 12,
            "lag_seconds": 86399,
            "last_synced_instant": "20260101000000000",
            "index_path": "/data/trips/.hoodie/hudiidx",
            "size": 10**9,
            "bytes_by_kind": {k: 10 ** (9 - i) for i, k in enumerate(kinds)},
            "record": {"mode": "global", "window_days": 30, "file_groups": 64, "mappings": 10**10},
            "columns": [{"kind": "range", "columns": ["*"], "options": {}, "pending": True}],
        },
        "fallback": "",
        "files": {
            "partitions": 3615,
            "files": 2271646,
            "bytes": 10**14,
            "slices": 10**6,
            "slices_with_logs": 10**5,
            "slices_without_base": 10,
            "base_files": 10**6,
            "base_bytes": 7 * 10**13,
            "log_files": 10**6,
            "log_bytes": 10**13,
            "files_per_partition": bins(*many),
            "base_sizes": bins(*many, first=4),
            "log_sizes": bins(*many[:20]),
            "logs_per_slice": bins(900000, 5000, 400, 30, 2),
            "largest_partitions": partitions,
            "most_logged": logged,
        },
        "timeline": {
            "completed": [
                {"action": a, "count": 10**4} for a in ("clean", "commit", "deltacommit", "rollback")
            ],
            "pending_count": 30,
            "pending": [
                {
                    "instant_time": f"20260102{n:09d}",
                    "action": "compaction",
                    "state": "REQUESTED",
                    "millis": None,
                }
                for n in range(20)
            ],
            "writes": [_write(n) for n in range(60)],
            "older_writes": 940,
        },
        "columns": {"stride": 12, "left_out": 960, "problem": "", "bounds": [_bounds(n) for n in range(40)]},
        "scans": {"scans": 300, "fallbacks": 2, "shapes": [shape] * 20},
        "advice": [
            {
                "kind": "compact",
                "title": "Compact",
                "why": "Because of a reason that takes a whole sentence to tell.",
                "command": "hudiidx compact-table " + "/a/very/long/path" * 10,
                "runs_in": where,
            }
            for where in ("shell", "sql", "python")
        ],
    }
