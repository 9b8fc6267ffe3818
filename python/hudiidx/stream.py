"""Keeps an index in step with a stream that writes its table."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from hudiidx._shell import command
from hudiidx._text import shown
from hudiidx.index import HudiIndex
from hudiidx.poll import bring_up, named, one_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_log = logging.getLogger("hudiidx.watch")


def update_after(
    write: Callable[[DataFrame, int], object],
    table: str | PathLike[str] | HudiIndex,
    *,
    create: bool | Mapping[str, Any] = False,
) -> Callable[[DataFrame, int], None]:
    """A function for ``foreachBatch`` that writes a batch, then updates the index of the table written.

    An update that fails is logged by ``logging.getLogger("hudiidx.watch")`` and never fails the stream: the
    index lags, and the next batch or update takes in what this one did not.

    Args:
        write: what is done with a batch and its number; its errors are the stream's.
        table: the path of the table that ``write`` writes, or its index.
        create: as for `Watcher`.
    """
    path, given = named(table)
    elsewhere = given._options.get("hudiidx.index.path") if given else None

    def write_and_update(df: DataFrame, batch_id: int) -> None:
        write(df, batch_id)
        try:
            bring_up(given or HudiIndex(df.sparkSession, path), create)
        except Exception as e:
            _log.warning(
                "%s: the index stays behind batch %s, the next or %s tries again: %s: %s",
                shown(path),
                batch_id,
                shown(command("update", path, index_path=elsewhere)),
                type(e).__name__,
                one_line(e),
            )

    return write_and_update
