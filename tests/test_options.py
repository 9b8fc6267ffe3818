"""Options by keyword and by Spark conf."""

import pkgutil
import re
from pathlib import Path

import options_page
import pytest
from pyspark.sql import SparkSession

from hudiidx import InvalidOption
from hudiidx.options import KNOWN, resolve

REPO = Path(__file__).parents[1]
PAGES = [REPO / "README.md", *sorted((REPO / "docs").rglob("*.md"))]
KINDS = {"boolean": bool, "integer": int, "number": float}
# Flags in lines of ours that are not ours: the pipeline's.
OTHERS = {"--writer"}


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
    with pytest.raises(InvalidOption, match=r"indexpath: unknown option; supported: .*index_path"):
        resolve({}, {"indexpath": "/i"})


def test_a_value_of_the_wrong_type_names_it() -> None:
    with pytest.raises(InvalidOption, match=r"strict: needs a bool, got 'yes' \(str\)"):
        resolve({}, {"strict": "yes"})


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> dict[str, list[dict[str, str]]]:
    return options_page.declared(spark)


def test_the_options_page_is_what_the_code_declares(tables: dict[str, list[dict[str, str]]]) -> None:
    page = options_page.PAGE.read_text(encoding="utf-8")
    assert options_page.with_tables(page, tables) == page, "run `make docs-options`"


def test_every_option_says_what_it_takes_and_means(tables: dict[str, list[dict[str, str]]]) -> None:
    options = [o for rows in tables.values() for o in rows]
    assert len({o["name"] for o in options}) == len(options) > 60
    for o in options:
        assert o["kind"] and o["default"], o["name"]
        assert re.search(r"[a-z].*[.…]\)?$", o["meaning"]), o["name"]


def test_keywords_are_of_options_that_there_are_and_of_their_types(
    tables: dict[str, list[dict[str, str]]],
) -> None:
    kinds = {o["name"]: o["kind"] for rows in tables.values() for o in rows}
    for option in KNOWN:
        wanted = KINDS.get(re.split(r"\W", kinds[option.name])[0], str)
        assert option.kind is wanted, option.name


def test_every_option_of_the_command_says_what_it_does() -> None:
    for name, command, options in options_page.commands():
        assert command.help, name
        for option in options:
            assert option.help, f"{name} {option.opts}"


def test_options_that_pages_name_exist(tables: dict[str, list[dict[str, str]]]) -> None:
    hive = (REPO / "jvm/hive/src/main/scala/hudiidx/hive/ReadSettings.scala").read_text()
    known = {o["name"] for rows in tables.values() for o in rows} | set(
        re.findall(r'"(hudiidx\.[a-z.]+)"', hive)
    )
    areas = {name.split(".")[1] for name in known if name.startswith("hudiidx.")}
    wrong = [
        f"{page.name}: {name}"
        for page in PAGES
        for name in re.findall(r"\bhudiidx(?:\.[A-Za-z_]+)+(?:\.\*)?", page.read_text(encoding="utf-8"))
        if name.split(".")[1] in areas and not _is_known(name, known)
    ]
    assert wrong == []


def _is_known(name: str, options: set[str]) -> bool:
    """An option, a beginning of options, something of Python, or a class or package of the JVM."""
    if name.endswith(".*"):
        return any(o.startswith(name[:-1]) for o in options)
    if name in options:
        return True
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError):
        below = "/".join(name.removesuffix(".class").split("."))
        return any((REPO / "jvm").glob(f"*/src/main/*/{below}")) or any(
            (REPO / "jvm").glob(f"*/src/main/*/{below}.*")
        )
    return True


def test_flags_that_pages_name_exist() -> None:
    known = {
        f for _, _, options in options_page.commands() for o in options for f in (*o.opts, *o.secondary_opts)
    }
    wrong = []
    for page in PAGES:
        for call in re.findall(r"hudiidx [a-z][a-z-]*[^`\n]*", page.read_text(encoding="utf-8")):
            wrong += [
                f"{page.name}: {f} in {call}"
                for f in re.findall(r"(?<!\S)--[a-z-]+", call)
                if f not in known | OTHERS
            ]
    assert wrong == []
