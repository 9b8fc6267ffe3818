"""Processes and sessions of other zones than UTC, beside stock Hudi: LOCAL timelines, SQL, filters."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from stock_hudi import NEWEST, RELEASES

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.parametrize("version", ["6", "9"])
def test_in_other_zones_writes_time_travel_and_filters_agree(tmp_path: Path, version: str) -> None:
    jar = RELEASES[NEWEST].jar
    command = [
        sys.executable,
        str(HERE / "zone_session.py"),
        "Australia/Lord_Howe",
        version,
        str(tmp_path / "warehouse"),
        str(jar),
    ]
    env = {**os.environ, "TZ": "America/New_York"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=1800, check=False, cwd=tmp_path, env=env
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found == {
        "instants are in order": True,
        "instants are of the zone": True,
        "rows": 15,
        "found by filters": 17,
        "filters that differ, no index": [],
        "filters that differ, index": [],
        "lag is of now": True,
        "as.of.instant differs": [],
        "watch": [None, True, "READY", True],
        "incremental differs": [],
        "stock's TIMESTAMP AS OF by the session's clock": [False] * 3,
        "stock's TIMESTAMP AS OF by the process' clock": [True] * 3,
        "our TIMESTAMP AS OF": [True] * 4,
        "our VERSION AS OF": [True] * 4,
    }
