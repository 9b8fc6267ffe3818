"""The watcher, over indexes that only the test knows: no Spark."""

import json
import logging
import urllib.request
from collections.abc import Mapping
from datetime import datetime, timezone
from threading import Event
from typing import Any

import pytest
from watched import PATIENCE, Index, Polls, done, failing, session, watcher

from hudiidx import DamagedTable, IndexNotFound, Poll, Watcher, update_after


def test_tables_are_polled_again_and_again_and_none_twice_at_once() -> None:
    polls, indexes = Polls(), [Index(f"/t{n}") for n in range(5)]
    with watcher(*indexes, workers=4, on_poll=polls) as running:
        for index in indexes:
            polls.until(lambda p, index=index: p.table == index.path and p.index_version >= 10)
    assert not any(i.twice_at_once for i in indexes)
    assert running.tables == tuple(i.path for i in indexes)
    by_table = [p.index_version for p in polls.seen if p.table == "/t0"]
    assert by_table == list(range(1, len(by_table) + 1))
    before = indexes[0].updates
    running.join()
    assert indexes[0].updates == before, "it has ended"


def test_a_poll_that_does_not_end_is_told_and_keeps_no_other_table_waiting() -> None:
    polls, answer = Polls(), Event()

    def silent(n: int) -> Mapping[str, Any]:
        assert n > 1 or answer.wait(PATIENCE)
        return done(n, str(n))

    hung, good = Index("/hung", silent), Index("/good")
    with watcher(hung, good, workers=1, patience=0.05, on_poll=polls) as running:
        told = polls.until(lambda p: p.error is not None)
        assert told.table == "/hung" and isinstance(told.error, TimeoutError)
        assert "has not ended after 0.05 s" in str(told)
        polls.until(lambda p: p.table == "/good" and p.index_version is not None and p.index_version >= 5)
        assert hung.updates == 1 and len([p for p in polls.seen if p.table == "/hung"]) == 1
        answer.set()
        polls.until(lambda p: p.table == "/hung" and p.index_version == 3)
        assert len(running._threads) == 1, "the worker that waited has ended"
    assert not hung.twice_at_once and not good.twice_at_once


def test_a_watch_that_is_stopped_waits_for_no_poll_longer_than_its_patience() -> None:
    polls, answer, began = Polls(), Event(), Event()

    def silent(n: int) -> Mapping[str, Any]:
        began.set()
        answer.wait(PATIENCE)
        return done(n)

    running = watcher(Index("/hung", silent), patience=0.2, metrics_port=0, on_poll=polls).start()
    assert began.wait(PATIENCE)
    running.stop()
    running.join()
    assert not answer.is_set() and polls.until(lambda p: p.error is not None).table == "/hung"
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{running.metrics_port}/metrics", timeout=PATIENCE)
    answer.set()


def test_a_failure_is_told_and_touches_no_other_table() -> None:
    polls = Polls()
    bad = Index("/bad", failing(RuntimeError("/bad/.hoodie: torn;\n restore it\n\tat hudiidx.X(Y.scala:1)")))
    with watcher(bad, Index("/good"), on_poll=polls):
        third = polls.until(lambda p: p.failures == 3)
        polls.until(lambda p: p.table == "/good" and p.index_version == 9)
    assert third.retry_seconds == pytest.approx(0.02)
    assert not third.published and third.index_version is None
    assert str(third) == (
        "/bad: failed (3 in a row, next try in 0 s): RuntimeError: /bad/.hoodie: torn; restore it"
    )
    assert all(p.error is None and p.failures == 0 for p in polls.seen if p.table == "/good")


def test_failures_in_a_row_count_from_the_last_success() -> None:
    def every_third_succeeds(n: int) -> Mapping[str, Any]:
        if n % 3:
            raise DamagedTable("torn")
        return done(n)

    polls = Polls()
    with watcher(Index("/t", every_third_succeeds), on_poll=polls):
        polls.until(lambda p: p.index_version == 9)
    assert [p.failures for p in polls.seen] == [1, 2, 0] * 3


@pytest.mark.parametrize(
    ("create", "made"), [(False, []), (True, [{}]), ({"record": "global"}, [{"record": "global"}])]
)
def test_an_index_is_made_if_it_is_to_be(create: Any, made: list[dict[str, Any]]) -> None:
    index = Index("/t", failing(IndexNotFound("/t: there is no index; run `hudiidx create /t`")))
    (poll,) = watcher(index, create=create).run_once()
    assert index.created == made
    if made:
        assert poll.published and poll.rebuilt and str(poll).startswith("/t: index made, index version 1, ")
    else:
        assert str(poll) == "/t: failed: IndexNotFound: /t: there is no index; run `hudiidx create /t`"


def test_stop_lets_a_sync_end_and_begins_no_other() -> None:
    polls, begun, go_on = Polls(), Event(), Event()

    def wait(n: int) -> Mapping[str, Any]:
        begun.set()
        assert go_on.wait(PATIENCE)
        return done(n, "1")

    index = Index("/t", wait)
    running = watcher(index, on_poll=polls).start()
    assert begun.wait(PATIENCE)
    running.stop()
    go_on.set()
    running.join()
    assert polls.until(lambda p: True).published
    assert index.updates == 1
    with pytest.raises(RuntimeError, match="runs once"):
        running.start()


def test_one_pass_tells_of_every_table_in_order() -> None:
    polls = Polls()
    indexes = [Index("/a", lambda n: done(7)), Index("/b"), Index("/c", failing(DamagedTable("torn")))]
    told = watcher(*indexes, workers=3, on_poll=polls).run_once()
    assert [str(p).split(":")[0] for p in told] == ["/a", "/b", "/c"]
    assert [bool(p.error) for p in told] == [False, False, True]
    assert [i.updates for i in indexes] == [1, 1, 1]
    assert str(told[0]) == "/a: in step, index version 7"
    assert {polls.until(lambda p: True).table for _ in indexes} == {"/a", "/b", "/c"}


def test_one_pass_waits_for_no_poll_longer_than_its_patience() -> None:
    polls, answer = Polls(), Event()

    def silent(n: int) -> Mapping[str, Any]:
        assert answer.wait(PATIENCE)
        return done(n)

    hung = Index("/hung", silent)
    passes = watcher(hung, Index("/good"), workers=1, patience=0.05, on_poll=polls)
    told = passes.run_once()
    again = passes.run_once()
    answer.set()
    assert [bool(p.error) for p in again] == [True, False]
    assert hung.updates == 1 and not hung.twice_at_once, "a table that hangs is not looked at twice"
    assert [p.table for p in told] == ["/hung", "/good"]
    assert [polls.until(lambda p: True) for _ in told] == told
    assert isinstance(told[0].error, TimeoutError) and "is not waited for" in str(told[0])
    assert told[1].error is None


def test_a_path_that_comes_twice_counts_once() -> None:
    assert Watcher(session(), ["/a", "/b/", "/a/", "/"]).tables == ("/a", "/b", "/")


def test_who_is_told_may_fail(caplog: pytest.LogCaptureFixture) -> None:
    polls = Polls()

    def tell(poll: Poll) -> None:
        polls(poll)
        raise KeyError("on purpose")

    with watcher(Index("/t"), on_poll=tell):
        polls.until(lambda p: p.index_version == 3)
    assert "/t: on_poll failed" in caplog.text and "on purpose" in caplog.text


def test_syncs_and_failures_are_logged_by_default(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "hudiidx.watch")
    indexes = [Index("/a"), Index("/b", lambda n: done(7)), Index("/c", failing(DamagedTable("torn")))]
    watcher(*indexes, workers=1).run_once()
    levels = [(r.levelname, r.getMessage().split(":")[0]) for r in caplog.records]
    assert levels == [("INFO", "/a"), ("WARNING", "/c")]


def test_the_end_of_the_session_is_the_end_of_the_watcher() -> None:
    index = Index("/t", failing(ConnectionRefusedError("no JVM")))
    running = Watcher(session(is_stopped=True), [index], interval=0.01)  # type: ignore[list-item]
    with pytest.raises(RuntimeError, match=r"session has ended; start anew \(no JVM\)"):
        running.run()
    assert index.updates == 1


@pytest.mark.parametrize(
    ("tables", "options", "told"),
    [
        ([], {}, "no tables"),
        (["/t"], {"workers": 0}, "workers"),
        (["/t"], {"interval": 0}, "interval"),
        (["/t"], {"jitter": 1.5}, "jitter"),
    ],
)
def test_wrong_arguments_are_refused(tables: list[str], options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Watcher(session(), tables, **options)


def test_a_poll_is_a_line_and_a_document() -> None:
    at = datetime(2026, 3, 1, 12, 0, 7, tzinfo=timezone.utc)
    poll = Poll("/data/trips", at, 0.6, True, False, 41, ("1", "2"), 6.1)
    assert str(poll) == "/data/trips: 2 instants, lag 6.1 s, index version 41, 0.6 s"
    assert json.loads(json.dumps(poll.document())) == {
        "at": "2026-03-01T12:00:07.000+00:00",
        "table": "/data/trips",
        "seconds": 0.6,
        "published": True,
        "rebuilt": False,
        "index_version": 41,
        "instants": ["1", "2"],
        "lag_seconds": 6.1,
        "error": None,
        "message": None,
        "failures": 0,
        "retry_seconds": None,
    }
    failed = Poll("/t", at, 0.1, error=DamagedTable("torn"), failures=2, retry_seconds=40.0).document()
    assert (failed["error"], failed["message"], failed["retry_seconds"]) == ("DamagedTable", "torn", 40.0)


def test_an_update_behind_a_batch_never_fails_the_stream(caplog: pytest.LogCaptureFixture) -> None:
    written, index = list[tuple[str, int]](), Index("/t")
    batch: Any = "batch"

    def write(df: Any, batch_id: int) -> None:
        if batch_id == 9:
            raise OSError("disk full")
        written.append((df, batch_id))

    update_after(write, index)(batch, 1)  # type: ignore[arg-type]
    assert (written, index.updates) == ([("batch", 1)], 1)
    torn = Index("/torn", failing(DamagedTable("torn")))
    update_after(write, torn)(batch, 2)  # type: ignore[arg-type]
    assert written[1:] == [("batch", 2)]
    assert "/torn: the index stays behind batch 2" in caplog.text
    assert "`hudiidx update /torn` tries again: DamagedTable: torn" in caplog.text
    with pytest.raises(OSError, match="disk full"):
        update_after(write, index)(batch, 9)  # type: ignore[arg-type]
    assert index.updates == 1
    missing = Index("/new", failing(IndexNotFound("none")))
    update_after(write, missing, create={"logs": True})(batch, 3)  # type: ignore[arg-type]
    assert missing.created == [{"logs": True}]
