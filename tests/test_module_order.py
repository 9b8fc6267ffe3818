"""Modules of the Python package import each other one way, imports within functions included."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "python" / "hudiidx"
NAMES = {
    ".".join(["hudiidx", *f.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__"): f
    for f in sorted(PACKAGE.rglob("*.py"))
}


def imported(node: ast.AST) -> Iterator[str]:
    """What is imported anywhere below a node, but for types alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0 and child.module, "relative imports are not followed here"
            parts = [f"{child.module}.{alias.name}" for alias in child.names]
            yield from (part if part in NAMES else child.module for part in parts)
        else:
            yield from imported(child)


def test_no_module_imports_one_that_imports_it() -> None:
    # The package itself is what users import: it has everything, and gives its version to anybody.
    graph = {
        name: {m for m in imported(ast.parse(f.read_text(encoding="utf-8"))) if m in NAMES} - {"hudiidx"}
        for name, f in NAMES.items()
    }
    assert {"hudiidx.cli.app", "hudiidx.cli.spark"} <= {m for modules in graph.values() for m in modules}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as e:
        raise AssertionError(" -> ".join(e.args[1])) from None
