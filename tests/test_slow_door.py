"""The door before the store of `benchmarks/store`: what passes is whole, waits, and is counted."""

from __future__ import annotations

import http.client
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

from on_store.requests import Request, kind_of, round_trips
from on_store.slow_door import NEAR, Pace, SlowDoor

LARGE = bytes(range(256)) * 2000


class Store(BaseHTTPRequestHandler):
    """Keeps what is put."""

    protocol_version = "HTTP/1.1"
    kept: ClassVar[dict[str, bytes]] = {}
    # Who asks for `/b/together` gets an answer once four have.
    together = threading.Barrier(4)

    def do_PUT(self) -> None:
        self.kept[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(200, b"")

    def do_GET(self) -> None:
        if self.path == "/b/together":
            self.together.wait(60)
        found = self.kept.get(self.path)
        if found is None:
            self.answer(404, b"no such key")
        elif self.headers.get("x-chunks"):
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for part in (found[:1000], found[1000:], b""):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        elif self.headers.get("x-until-closed"):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(found)
            self.close_connection = True
        else:
            self.answer(200, found)

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.kept[self.path])))
        self.end_headers()

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture()
def door() -> Iterator[SlowDoor]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Store)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    opened = SlowDoor(server.server_port, NEAR)
    yield opened
    opened.close()
    server.shutdown()
    thread.join()
    server.server_close()


def ask(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> tuple[int, bytes]:
    connection.request(method, path, body, headers or {})
    reply = connection.getresponse()
    return reply.status, reply.read()


def test_bodies_pass_whole_and_are_counted(door: SlowDoor) -> None:
    client = http.client.HTTPConnection("127.0.0.1", door.port)
    assert ask(client, "PUT", "/b/large", LARGE) == (200, b"")
    door.reset()
    assert ask(client, "GET", "/b/large") == (200, LARGE)
    assert ask(client, "GET", "/b/large", headers={"x-chunks": "yes"}) == (200, LARGE)
    assert ask(client, "GET", "/b/large", headers={"x-until-closed": "yes"}) == (200, LARGE)
    assert ask(client, "HEAD", "/b/large") == (200, b"")
    assert ask(client, "GET", "/b/none") == (404, b"no such key")
    assert ask(client, "GET", "/b?list-type=2&prefix=x")[0] == 404
    found = door.account()
    client.close()
    assert found.kinds == {"list": 1, "head": 1, "get": 4}
    assert (found.requests, found.round_trips) == (6, 6)
    assert found.received == 3 * len(LARGE) + 2 * len(b"no such key")


def test_requests_at_once_are_one_round_trip(door: SlowDoor) -> None:
    Store.kept["/b/together"] = b"small"

    def one() -> None:
        client = http.client.HTTPConnection("127.0.0.1", door.port)
        assert ask(client, "GET", "/b/together") == (200, b"small")
        client.close()

    threads = [threading.Thread(target=one) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    found = door.account()
    assert (found.requests, found.round_trips) == (4, 1)


def test_a_connection_has_its_bandwidth(door: SlowDoor) -> None:
    client = http.client.HTTPConnection("127.0.0.1", door.port)
    ask(client, "PUT", "/b/large", LARGE)
    door.pace = Pace(0.0, 0.0, 100, len(LARGE) / 0.3)
    began = time.monotonic()
    assert ask(client, "GET", "/b/large") == (200, LARGE)
    assert time.monotonic() - began >= 0.3
    client.close()


@pytest.mark.parametrize(
    ("spans", "trips"),
    [
        ([], 0),
        ([(0, 1), (1, 2), (2, 3)], 3),
        ([(0, 1), (0, 2), (0, 3)], 1),
        ([(0, 9), (1, 2), (3, 4), (5, 6)], 3),
        ([(0, 2), (1, 3), (2, 4)], 2),
    ],
)
def test_round_trips_are_the_longest_chain(spans: list[tuple[int, int]], trips: int) -> None:
    assert round_trips(Request("get", a, b) for a, b in spans) == trips


@pytest.mark.parametrize(
    ("method", "target", "kind"),
    [
        ("GET", "/b/key", "get"),
        ("GET", "/b?list-type=2&prefix=a%2Fb", "list"),
        ("GET", "/b?delimiter=%2F", "list"),
        ("GET", "/b/list-type=2", "get"),
        ("POST", "/b?delete", "post"),
        ("PUT", "/b/key?uploadId=1", "put"),
    ],
)
def test_a_listing_is_told_from_a_get(method: str, target: str, kind: str) -> None:
    assert kind_of(method, target) == kind
