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
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        open_ones = asyncio.all_tasks() - {asyncio.current_task()}
        for task in open_ones:
            task.cancel()
        await asyncio.gather(*open_ones, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of a client."""
        try:
            while head := await _head(reader):
                await self._pass(head, reader, writer)
        except (Broken, ConnectionError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:  # the door closes: what called this takes it for an error
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
                sent = _Passing(reader, to_store, pace.bandwidth)
                await (sent.chunked() if head.is_chunked else sent.known(head.length or 0))
                request.sent = sent.passed
                request.received = await self._reply(method, store, writer, pace)
            finally:
                to_store.close()
        finally:
            request.ended = time.monotonic()


    async def _reply(
        self, method: str, store: asyncio.StreamReader, writer: asyncio.StreamWriter, pace: Pace
    ) -> int:
        """Passes the store's answer on; gives the bytes of its body."""
        head = await _head(store)
        if head is None:
            raise Broken("no reply")
        passing = _Passing(store, writer, pace.bandwidth)
        if method == "HEAD" or head.status in (204, 304):
            writer.write(head.passed_on())
        elif head.is_chunked:
            writer.write(head.passed_on())
            await passing.chunked()
        elif head.length is not None:
            writer.write(head.passed_on())
            await passing.known(head.length)
        else:
            writer.write(head.passed_on(b"Transfer-Encoding: chunked"))
            await passing.until_closed()
        await writer.drain()
        return passing.passed


@dataclass(frozen=True)
class _Head:
    first: bytes
    headers: list[tuple[bytes, bytes]]

    def value(self, name: bytes) -> bytes:
        return next((v for n, v in self.headers if n.lower() == name), b"")

    @property
    def status(self) -> int:
        return int(self.first.split(b" ", 2)[1])

    @property
    def is_chunked(self) -> bool:
        return self.value(b"transfer-encoding").lower() == b"chunked"

    @property
    def length(self) -> int | None:
        """Bytes of the body, where the head says so."""
        told = self.value(b"content-length")
        return int(told) if told else None

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


class _Passing:
    """Passes one body on, no faster than `bandwidth`; counts its bytes in `passed`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, bandwidth: float) -> None:
        self.reader, self.writer, self.bandwidth = reader, writer, bandwidth
        self.began, self.passed = time.monotonic(), 0

    async def known(self, length: int) -> None:
        """A body of so many bytes."""
        while length:
            data = await self.reader.read(min(length, PIECE))
            if not data:
                raise Broken("a body that ends early")
            length -= len(data)
            await self._write(data)

    async def chunked(self) -> None:
        """A body in chunks, which stays so."""
        size = -1
        while size:
            line = await self.reader.readuntil(b"\r\n")
            self.writer.write(line)
            size = int(line.split(b";")[0], 16)
            await self.known(size)
            self.writer.write(await self.reader.readexactly(2))
        await self.writer.drain()

    async def until_closed(self) -> None:
        """A body that ends with its connection; it is passed on in chunks."""
        while data := await self.reader.read(PIECE):
            self.writer.write(b"%x\r\n" % len(data))
            await self._write(data)
            self.writer.write(b"\r\n")
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    async def _write(self, data: bytes) -> None:
        self.passed += len(data)
        early = self.began + self.passed / self.bandwidth - time.monotonic()
        if early > 0:
            await asyncio.sleep(early)
        self.writer.write(data)
        await self.writer.drain()
