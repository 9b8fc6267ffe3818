"""Options by keyword and by Spark conf."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from hudiidx import InvalidOption
from hudiidx.options import KNOWN, resolve


def test_a_keyword_becomes_the_full_name_with_a_text_value() -> None:
    assert resolve({}, {"index_path": "/i", "strict": True}) == {
        "hudiidx.index.path": "/i",
        "hudiidx.index.strict": "true",
    }


def test_a_keyword_wins_over_the_spark_conf_and_none_does_not() -> None:
    conf = {"hudiidx.index.strict": "true", "hudiidx.index.path": "/a", "spark.app.name": "x"}
    assert resolve(conf, {"strict": False, "index_path": None}) == {
        "hudiidx.index.strict": "false",
        "hudiidx.index.path": "/a",
    }


def test_a_full_name_is_a_keyword_too() -> None:
    assert resolve({}, {"hudiidx.index.enabled": False}) == {"hudiidx.index.enabled": "false"}


def test_a_path_object_is_a_path() -> None:
    assert resolve({}, {"index_path": Path("/i/j")}) == {"hudiidx.index.path": "/i/j"}


def test_an_unknown_keyword_names_the_known_ones() -> None:
    with pytest.raises(InvalidOption, match=r"indexpath: no such option; known: .*index_path"):
        resolve({}, {"indexpath": "/i"})


def test_a_value_of_the_wrong_type_names_it() -> None:
    with pytest.raises(InvalidOption, match=r"strict: needs a bool, got 'yes' \(str\)"):
        resolve({}, {"strict": "yes"})


def test_every_option_is_on_the_options_page() -> None:
    page = (Path(__file__).parent.parent / "docs" / "options.md").read_text(encoding="utf-8")
    for option in KNOWN:
        assert f"`{option.keyword}`" in page, option.keyword
        assert f"`{option.name}`" in page, option.name


def test_every_option_of_the_scala_side_is_on_the_options_page(spark: SparkSession) -> None:
    page = (Path(__file__).parent.parent / "docs" / "options.md").read_text(encoding="utf-8")
    docs = spark._jvm.hudiidx.spark.ReadOptions.Docs()
    names = [docs.apply(i).name() for i in range(docs.size())]
    assert len(names) >= 3
    for name in names:
        assert f"`{name}`" in page, name
