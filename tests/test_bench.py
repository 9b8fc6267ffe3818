"""The comparison with the peers (`make bench`): its rows and its page. It measures by its command alone."""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

from bench.data import Data, key_of
from bench.table import Figures, behind, rendered
from results_page import replace_sections

DATA = Data(Path("unused"), rows=1000, batch=100, files=4)


def test_keys_of_queries_are_those_of_the_rows(spark: SparkSession) -> None:
    rows = DATA.all_rows(spark).select("key", "amount").collect()
    assert {row.amount: row.key for row in rows} == {n: key_of(n) for n in range(1000)}


def test_one_row_in_five_of_a_batch_is_new_and_batches_differ(spark: SparkSession) -> None:
    there = {key_of(n) for n in range(1000)}
    batches = [{row.key for row in DATA.batch_rows(spark, salt).select("key").collect()} for salt in range(3)]
    assert [len(batch) for batch in batches] == [100, 100, 100]
    assert [len(batch - there) for batch in batches] == [20, 20, 20]
    assert not (batches[0] & batches[1]) and not (batches[1] & batches[2])


def test_what_is_behind_comes_first_with_its_reason() -> None:
    figures = Figures()
    for operation, ours, theirs in (("point", 100.0, 500.0), ("keys", 100.0, 80.0), ("tag", 100.0, 50.0)):
        figures.add(operation, "hudiidx", ours)
        figures.add(operation, "iceberg", theirs)
    figures.missing("tag", "hudi_rs", "cannot write")
    lines = behind(figures)
    assert [line.partition(":")[0] for line in lines] == ["- 1,000 record keys", "- files of a batch's keys"]
    assert "0.80" in lines[0] and "key column" in lines[0]
    assert "0.50" in lines[1] and "no reason known yet" in lines[1]
    page = rendered(figures, DATA, "Made by a test.")
    assert page.index(lines[0]) < page.index("| one record key | 100 |  | 500, 5.0 x |")
    assert "cannot write" in page


def test_a_run_replaces_its_own_sections_of_the_page(tmp_path: Path) -> None:
    page = tmp_path / "RESULTS.md"
    replace_sections(page, ["## C: 3 files\n\nold", "## M: 9 files\n\n### part\n\nkept"])
    replace_sections(page, ["## C: 4 files\n\nnew", "## E: 1 file\n\nmore"])
    assert page.read_text() == (
        "# Results\n\n## C: 4 files\n\nnew\n\n## M: 9 files\n\n### part\n\nkept\n\n## E: 1 file\n\nmore\n"
    )
