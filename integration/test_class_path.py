"""Our jar beside the bundles of Hudi, Iceberg and Delta on one class path, before and behind them."""

import json
import zipfile
from pathlib import Path

import pytest
from standalone import submit
from stock_hudi import NEWEST, RELEASES
from stored import ROOT

from hudiidx.session import jar_path, writer_jars

LIB = ROOT / "build" / "lib"
BUNDLES = [
    RELEASES[NEWEST].jar,
    LIB / "iceberg-spark-runtime-3.5_2.12-1.12.0.jar",
    LIB / "delta-spark_2.12-3.3.2.jar",
    LIB / "delta-storage-3.3.2.jar",
]


@pytest.mark.parametrize("ours", [pytest.param("first", marks=pytest.mark.slow), "last"])
def test_every_format_works_in_one_session(tmp_path: Path, ours: str) -> None:
    jars = [jar_path(), *BUNDLES] if ours == "first" else [*BUNDLES, jar_path()]
    script = Path(__file__).with_name("all_formats.py")
    said = submit("local[1]", ",".join(map(str, jars)), script, str(tmp_path))
    found = json.loads(said.strip().splitlines()[-1])
    wanted = list(range(3, 100, 7))
    assert found == dict.fromkeys(found, wanted)
    of_hudiidx = {"hudiidx", "hudiidx by path", "lookup"}
    assert set(found) == of_hudiidx | {"hudi", "iceberg", "delta", "table function of hudi"}


def test_our_jars_share_no_class_with_the_bundles() -> None:
    def classes(jar: Path) -> set[str]:
        with zipfile.ZipFile(jar) as z:
            return {n for n in z.namelist() if n.endswith(".class") and n != "module-info.class"}

    ours = set().union(*(classes(Path(jar)) for jar in writer_jars()))
    assert ours and all(name.startswith("hudiidx/") for name in ours)
    for bundle in BUNDLES:
        assert not ours & classes(bundle), bundle.name
