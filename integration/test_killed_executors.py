"""Executors that are killed, and tasks that run twice, change nothing: rows, index and files are as without.

HUDIIDX_KILLS=20 pytest -s -m slow integration/test_killed_executors.py
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from figures import figure

KILLS = int(os.environ.get("HUDIIDX_KILLS", "1"))


@pytest.mark.slow
def test_executors_die_while_indexes_and_tables_are_written(stock_1_2: Any, tmp_path: Path) -> None:
    seed = int(os.environ.get("HUDIIDX_TEST_SEED", time.time_ns()))
    print(f"HUDIIDX_TEST_SEED={seed}")
    script, table = Path(__file__).with_name("killed_executors.py"), tmp_path / "killed"
    done = subprocess.run(
        [sys.executable, str(script), str(table), str(KILLS), str(seed)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, f"seed {seed}: {done.stdout[-2000:]} {done.stderr[-4000:]}"
    said = json.loads(done.stdout.splitlines()[-1])
    assert min(said["kills"].values()) >= KILLS and said["twice"] > 0, said
    kills = sum(said["kills"].values())
    figure("executors killed in indexing, tagging and writes", kills)
    figure("tasks that ran twice meanwhile", said["twice"])
    stock_1_2.adopt(name="killed", path=str(table), kind="MOR")
    ids = stock_1_2.sums(name="killed", sums=["count(*)", "count(distinct id)"])
    assert ids[0] == ids[1]
