"""Makes Spark's own calls raise our exceptions, in classic sessions and through Spark Connect.

For each kind of session PySpark has a function that makes Python's exceptions of what the JVM threw. Ours
stand in front of these. `import hudiidx` puts them there, whether PySpark is imported before it or after.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from hudiidx.errors import HudiIdxException, of_jvm_class

_DEEPEST_CAUSE = 12
_IN_TEXT = re.compile(r"\b(hudiidx\.[A-Za-z]+): ([^\n]*)")


def of_java(thrown: Any) -> HudiIdxException | None:
    """The first of our exceptions in a chain of causes: a failed Spark task wraps it."""
    for _ in range(_DEEPEST_CAUSE):
        if thrown is None:
            return None
        kind = of_jvm_class(thrown.getClass().getName())
        if kind is not None:
            return kind(thrown.getMessage())
        thrown = thrown.getCause()
    return None


def of_connect(info: Any, message: str, details: Any = None, *more: Any) -> HudiIdxException | None:
    """The same of what a server of Spark Connect tells.

    Args:
        info: names the class of what was thrown, and its parents.
        message: of it; that of a failed task holds its causes' classes and messages.
        details: the chain of causes, where the server tells it.
        more: of later releases.
    """
    for cause in getattr(details, "errors", None) or ():
        kind = _first_of_ours(cause.error_type_hierarchy)
        if kind is not None:
            return kind(cause.message)
    kind = _first_of_ours(json.loads(dict(info.metadata).get("classes", "[]")))
    if kind is not None:
        return kind(message)
    for name, said in _IN_TEXT.findall(message):
        kind = of_jvm_class(name)
        if kind is not None:
            return kind(said)
    return None


def _first_of_ours(classes: Sequence[str]) -> type[HudiIdxException] | None:
    return next((kind for name in classes if "." in name and (kind := of_jvm_class(name))), None)


# Where PySpark has its functions, and where one is imported by name.
_PLACES: dict[str, Callable[..., HudiIdxException | None]] = {
    "pyspark.errors.exceptions.captured": of_java,
    "pyspark.errors.exceptions.connect": of_connect,
    "pyspark.sql.connect.client.core": of_connect,
}
_FUNCTION = "convert_exception"


def raise_ours() -> None:
    """From now on, and once only."""
    for name in _PLACES:
        if name in sys.modules:
            _stand_before(sys.modules[name])
    if not any(isinstance(finder, _WhenImported) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WhenImported())


def _stand_before(module: ModuleType) -> None:
    of_spark = getattr(module, _FUNCTION, None)
    if of_spark is None or of_spark.__module__ == __name__:
        return
    ours = _PLACES[module.__name__]

    def convert(*told: Any, **named: Any) -> Any:
        return ours(*told) or of_spark(*told, **named)

    setattr(module, _FUNCTION, convert)


class _WhenImported(MetaPathFinder):
    """Does it as soon as one of the modules has been run; any other passes by."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module as others find it."""
        if fullname not in _PLACES:
            return None
        others = (f for f in sys.meta_path if f is not self)
        spec = next((s for f in others if (s := f.find_spec(fullname, path, target))), None)
        loader: Any = spec.loader if spec else None
        if loader is not None:
            run = loader.exec_module

            def run_and_stand_before(module: ModuleType) -> None:
                run(module)
                _stand_before(module)

            loader.exec_module = run_and_stand_before
        return spec
