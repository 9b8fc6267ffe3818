"""A door before an HTTP store: every request waits as if the store were a network away, and is counted."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from dataclasses import dataclass

from .requests import Account, Request, account, kind_of

LOOPBACK = "127.0.0.1"
PIECE = 64 * 1024
HEAD_LIMIT = 1 << 20
OF_A_CONNECTION = {b"connection", b"keep-alive", b"expect"}


@dataclass(frozen=True)
class Pace:
    """How far away a store is: seconds that each request waits, those of one in `tail_in`, and bytes a second of a connection."""

    delay: float
    tail: float
    tail_in: int
    bandwidth: float

    def wait(self, chance: random.Random) -> float:
        return self.tail if chance.randrange(self.tail_in) == 0 else self.delay


NEAR = Pace(0.0, 0.0, 100, float("inf"))
FAR = Pace(0.025, 0.25, 100, 80e6)


class Broken(Exception):
    """What came is not HTTP, or ended early."""


class SlowDoor:
    """Passes requests on to the store at `port`. `pace` may be set at any time; it holds for requests that begin later."""

    def __init__(self, port: int, pace: Pace = NEAR) -> None:
        self.behind, self.pace = port, pace
        self._chance = random.Random(1)
        self._requests: list[Request] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="door", daemon=True)
        self._thread.start()
        serving = asyncio.start_server(self._serve, LOOPBACK, 0, limit=HEAD_LIMIT)
        self._server = asyncio.run_coroutine_threadsafe(serving, self._loop).result()

    @property
    def port(self) -> int:
        return int(self._server.sockets[0].getsockname()[1])

    def reset(self) -> None:
        """Later accounts begin here."""
        self._settle()
        self._requests = []

    def account(self) -> Account:
        """Of all requests since the last `reset`, once none is under way."""
        self._settle()
        return account(self._requests)

    def _settle(self) -> None:
        while any(not r.ended for r in self._requests):
            time.sleep(0.01)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._server.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of a client."""
        try:
            while head := await _head(reader):
                await self._pass(head, reader, writer)
        except (Broken, ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _pass(self, head: _Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pace = self.pace
        method, target, _ = head.first.decode("latin-1").split(" ", 2)
        request = Request(kind_of(method, target), time.monotonic())
        self._requests.append(request)
        try:
            if head.value(b"expect"):
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            await asyncio.sleep(pace.wait(self._chance))
            store, to_store = await asyncio.open_connection(LOOPBACK, self.behind, limit=HEAD_LIMIT)
            try:
                to_store.write(head.passed_on(b"Connection: close"))
                request.sent = await _body(head.body(), reader, to_store, pace.bandwidth)
                reply = await _head(store)
                if reply is None:
                    raise Broken("no reply")
                writer.write(reply.passed_on())
                has_body = method != "HEAD" and reply.status not in (204, 304)
                request.received = await _body(reply.body() if has_body else 0, store, writer, pace.bandwidth)
            finally:
                to_store.close()
        finally:
            request.ended = time.monotonic()


@dataclass(frozen=True)
class _Head:
    first: bytes
    headers: list[tuple[bytes, bytes]]

    def value(self, name: bytes) -> bytes:
        return next((v for n, v in self.headers if n.lower() == name), b"")

    @property
    def status(self) -> int:
        return int(self.first.split(b" ", 2)[1])

    def body(self) -> int:
        """Bytes of the body; -1 where it comes in chunks."""
        if self.value(b"transfer-encoding").lower() == b"chunked":
            return -1
        return int(self.value(b"content-length") or 0)

    def passed_on(self, *added: bytes) -> bytes:
        kept = [n + b": " + v for n, v in self.headers if n.lower() not in OF_A_CONNECTION]
        return b"\r\n".join([self.first, *kept, *added, b"", b""])


async def _head(reader: asyncio.StreamReader) -> _Head | None:
    """None where the other side has closed."""
    try:
        text = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as ended:
        if ended.partial:
            raise Broken("a head that ends early") from ended
        return None
    except asyncio.LimitOverrunError as longer:
        raise Broken("a head without end") from longer
    first, *lines = text[:-4].split(b"\r\n")
    headers = [(name, value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
    head = _Head(first, headers)
    # An answer that only says "go on" is not the answer.
    return await _head(reader) if first.startswith(b"HTTP/") and head.status == 100 else head


async def _body(length: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, bandwidth: float) -> int:
    """Passes a body on, no faster than `bandwidth`; gives its bytes."""
    began, passed = time.monotonic(), 0

    async def piece(size: int, counts: bool = True) -> None:
        nonlocal passed
        left = size
        while left:
            data = await reader.read(min(left, PIECE))
            if not data:
                raise Broken("a body that ends early")
            left -= len(data)
            writer.write(data)
            await writer.drain()
            if counts:
                passed += len(data)
                early = began + passed / bandwidth - time.monotonic()
                if early > 0:
                    await asyncio.sleep(early)

    if length >= 0:
        await piece(length)
    else:
        size = -1
        while size:
            line = await reader.readuntil(b"\r\n")
            writer.write(line)
            size = int(line.split(b";")[0], 16)
            await piece(size)
            await piece(2, counts=False)
    await writer.drain()
    return passed
