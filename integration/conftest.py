"""Stock Hudi writers, one process a version, beside the session of ``tests``."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from stock_hudi import NEWEST, RELEASES, StockHudi

# Its assertions tell what they compare, as those of tests do.
pytest.register_assert_rewrite("written")


@pytest.fixture(scope="session")
def stock_work() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hudiidx-stock-") as d:
        yield Path(d)


@pytest.fixture(scope="session")
def stock_0_15(stock_work: Path) -> Iterator[StockHudi]:
    yield from _stock("stock_0_15", stock_work)


@pytest.fixture(scope="session")
def stock_1_0(stock_work: Path) -> Iterator[StockHudi]:
    yield from _stock("stock_1_0", stock_work)


@pytest.fixture(scope="session")
def stock_1_1(stock_work: Path) -> Iterator[StockHudi]:
    yield from _stock("stock_1_1", stock_work)


@pytest.fixture(scope="session")
def stock_1_2(stock_work: Path) -> Iterator[StockHudi]:
    yield from _stock("stock_1_2", stock_work)


@pytest.fixture
def fresh_stock_0_15(tmp_path: Path) -> Iterator[StockHudi]:
    """A process of its own: 0.15.0 keeps what it knows of a table's columns beyond that table."""
    yield from _stock("stock_0_15", tmp_path)


@pytest.fixture
def large_stock(tmp_path: Path) -> Iterator[StockHudi]:
    """With memory for file groups of gigabytes, which it rewrites whole."""
    yield from _stock(NEWEST, tmp_path, "9g")


def _stock(name: str, work: Path, memory: str = "2g") -> Iterator[StockHudi]:
    release = RELEASES[name]
    folder = work / release.number
    folder.mkdir()
    stock = StockHudi(release, folder, memory)
    yield stock
    stock.close()
