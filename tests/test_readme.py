"""The README's example of a merge-on-read table gives stock Hudi's rows."""

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import stored
from compare import expect_answer
from pyspark.sql import SparkSession

README = Path(__file__).parents[1] / "README.md"


def example(title: str) -> str:
    """The Python code under a heading."""
    text = README.read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found
    return found.group(1)


@pytest.mark.parametrize("table", ["v6-mor-part", "v9-mor-part"])
def test_a_merge_on_read_table_is_read_as_the_readme_says(
    spark: SparkSession,
    make_table: Callable[[str], Path],
    capsys: pytest.CaptureFixture[str],
    table: str,
) -> None:
    answers = stored.load(table).answers
    then = answers["time_travel"][1]
    code = example("Read a merge-on-read table")
    for told, here in (("/data/trips_mor", str(make_table(table))), ("2026-01-01 12:00:00", then["as_of"])):
        assert told in code
        code = code.replace(told, here)
    names: dict[str, Any] = {"spark": spark}
    values = [run(statement, names) for statement in ast.parse(code).body]
    frames = [names["trips"], *(v for v in values if v is not None)]
    wanted = [answers["snapshot"], answers["read_optimized"], then]
    for frame, expected in zip(frames, wanted, strict=True):
        expect_answer(frame, expected)
    shown = capsys.readouterr().out
    for row in names["trips"].where("fare > 90").groupBy("city").count().collect():
        assert re.search(rf"\|\s*{row.city}\|\s*{row['count']}\|", shown)


def run(statement: ast.stmt, names: dict[str, Any]) -> Any:
    """The value of an expression; None of other statements."""
    if isinstance(statement, ast.Expr):
        return eval(compile(ast.Expression(statement.value), "README", "eval"), names)
    exec(compile(ast.Module([statement], []), "README", "exec"), names)
    return None
