"""A disk that is full: Python gets errors of ours that say what counts of a write, and no row is lost."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hudiidx.session import jar_path

SCRIPT = Path(__file__).with_name("full_disk.py")
# A file system in memory, of some megabytes, that is there for the command alone and goes with it.
MOUNTED = 'mount -t tmpfs -o size=12m tmpfs "$0" && exec "$@"'
ALONE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNTED]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    small = tmp_path_factory.mktemp("small")
    if subprocess.run([*ALONE, small, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets no process of ours mount a file system of its own")
    command = [*ALONE, small, sys.executable, SCRIPT, small, jar_path()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert not list(small.iterdir())
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.spark
def test_writes_to_a_full_disk_end_with_our_errors_and_lose_no_row(told: dict[str, Any]) -> None:
    failed, done = [], []
    for step in told["tried"]:
        kind, said, held = step["kind"].removeprefix("hudiidx.errors."), step["said"], step["held"]
        assert held == step["later"], step
        if step["call"] == "index":
            assert kind == "IndexNotWritable" and held == step["wanted"], step
        elif kind == "WriteFailed":
            assert held == step["before"] and "nothing of it counts" in said and "make room" in said, step
            failed.append(step["room"])
        elif kind == "WriteUnknown":
            assert held in (step["before"], step["wanted"]), step
        else:
            assert kind == "" and held == step["wanted"], step
            done.append(step["room"])
        assert not kind or ("No space left on device" in said and "\n" not in said), step
    assert min(failed) == 0 and len(failed) >= 5 and done and max(failed) > 100_000


@pytest.mark.spark
def test_with_room_again_the_next_write_is_whole(told: dict[str, Any]) -> None:
    assert told["last"]["held"] == told["last"]["wanted"]
    assert len(told["last"]["held"]) > 3
