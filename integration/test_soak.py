"""Readers and indexers beside a stock Hudi that writes, compacts, clusters and cleans without pause.

`make test` compares some reads; hours of it, with curves of memory, file handles and files:

    HUDIIDX_SOAK_MINUTES=120 HUDIIDX_SOAK_READS=10000 pytest -s integration/test_soak.py
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from curves import Curves
from figures import figure

MINUTES = float(os.environ.get("HUDIIDX_SOAK_MINUTES", "0.2"))
READS = int(os.environ.get("HUDIIDX_SOAK_READS", "9"))
# How much more of a thing there may be in the last quarter than in the one before it. Blocks of index files
# are cached up to a bound, which takes hours to reach: the heap is flat without them.
FLAT = {
    "heap without cached blocks MiB": 8.0,
    "resident MiB": 64.0,
    "file handles": 16.0,
    "old index files": 4.0,
}
# The same as a share: young index files go with the commits of the last minutes, the table's with when stock
# cleaned.
STEADY = {"index files": 0.25, "table files": 0.25}
ENOUGH = 60  # samples to call a curve flat


def test_readers_and_indexers_beside_a_writer_without_pause(tmp_path: Path) -> None:
    seed = int(os.environ.get("HUDIIDX_TEST_SEED", time.time_ns()))
    print(f"HUDIIDX_TEST_SEED={seed}")
    script = Path(__file__).with_name("soak.py")
    folder = Path(os.environ.get("HUDIIDX_SOAK_FOLDER", tmp_path)) / "soak"
    done = subprocess.run(
        [sys.executable, str(script), str(folder), str(MINUTES), str(READS), str(seed)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, f"seed {seed}: {done.stdout[-2000:]}"
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["reads"] >= READS and said["syncs"] > 0 and said["writes"] > 0, said
    curves = Curves([])
    curves.values = said["curves"]
    figure("reads beside a stock writer without pause", said["reads"])
    figure("writes and table services of that writer", said["writes"])
    figure("minutes that they took", round(curves.values["seconds"][-1] / 60))
    if len(curves.values["seconds"]) >= ENOUGH:
        both = zip(curves.values["heap MiB"], curves.values["cached blocks MiB"], strict=True)
        curves.values["heap without cached blocks MiB"] = [heap - cached for heap, cached in both]
        grown = {name: curves.growth(name) for name in FLAT}
        assert all(grown[name] <= most for name, most in FLAT.items()), grown
        shares = {name: curves.growth(name) / max(curves.mean(name), 1) for name in STEADY}
        assert all(shares[name] <= most for name, most in STEADY.items()), shares
    if "HUDIIDX_SOAK_PLOT" in os.environ:
        shutil.copy(folder / "soak.svg", os.environ["HUDIIDX_SOAK_PLOT"])
