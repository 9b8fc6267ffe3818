"""The site of docs/: `make docs`."""

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

from hudiidx import __version__  # noqa: E402 - found by the line above

project = "hudiidx"
author = "the hudiidx authors"
copyright = "2026, the hudiidx authors"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
# The command is not installed here, nor is Spark: pages of the API come from sources and docstrings alone.
autodoc_mock_imports = ["pyspark", "py4j", "prometheus_client", "pyarrow"]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
default_role = "code"
templates_path: list[str] = []
exclude_patterns: list[str] = []

html_theme = "furo"
html_title = f"hudiidx {__version__}"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False


def setup(app: Any) -> None:
    """Markdown outside docs/ is linked as a file: it is no page of the site."""
    app.connect("source-read", _files_outside)


def _files_outside(_app: Any, _name: str, source: list[str]) -> None:
    source[0] = re.sub(r"\]\((\.\./[^)#]+\.md)", r"](path:\1", source[0])
    source[0] = re.sub(r"\[([^]\n]*)\]\(\.\./[\w/-]+\)", r"\1", source[0])  # a folder is no file
