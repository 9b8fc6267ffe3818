"""SQL with Hudi's extension and catalog in one session: Hudi writes, hudiidx reads, by the same names."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from stock_hudi import NEWEST, RELEASES

HERE = Path(__file__).parent
OURS = "hudiidx.spark.HudiIdxExtensions"
HUDI = "org.apache.spark.sql.hudi.HoodieSparkSessionExtension"
INSERTED = [[1, 1.5, "oslo"], [2, 2.5, "oslo"], [3, 3.5, "lima"]]
CHANGED = [[2, 5.0, "oslo"], [3, 9.5, "lima"], [4, 4.5, "nyc"]]
# An overwrite with rows that stock's relation reads of the table itself, and one that fails meanwhile.
LEFT = [[2, 15.0, "oslo"], [3, 17.0, "lima"]]
OVERWRITTEN = {"rows": LEFT, "a failed one": True, "rows behind it": LEFT, "by hudi's own reader": LEFT}


@pytest.mark.parametrize(
    "extensions",
    [
        pytest.param(f"{HUDI},{OURS}", id="hudi-first"),
        pytest.param(f"{OURS},{HUDI}", id="ours-first", marks=pytest.mark.slow),
    ],
)
def test_names_of_hudi_tables(tmp_path: Path, extensions: str) -> None:
    jar = RELEASES[NEWEST].jar
    command = [
        sys.executable,
        str(HERE / "sql_session.py"),
        extensions,
        str(tmp_path / "warehouse"),
        str(jar),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "inserted": INSERTED,
        "read by hudiidx": True,
        "changed": CHANGED,
        "of hudi's own reader": CHANGED,
        "as it was": [INSERTED] * 2,
        "as of a moment": [CHANGED] * 2,
        "with a column more": [[14, 1.0], [2, None], [3, None], [4, None]],
        "partitions": [["city=lima"], ["city=nyc"], ["city=oslo"]],
        "copied": [[14, 4.5], [2, 5.0], [3, 9.5], [4, 4.5]],
        "provider": ["hudi"],
        "files": 9,
        "created": True,
        "looked up": [["4", "city=nyc"]],
        "verified": True,
        "hudi's commits": True,
        "overwritten, version 6": OVERWRITTEN,
        "overwritten, version 9": OVERWRITTEN,
        "tables": ["trips"],
    }
