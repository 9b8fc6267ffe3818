"""What was asked of a store, and what that says of how long a user waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

KINDS = ["list", "head", "get", "put", "post", "delete"]


@dataclass
class Request:
    """One request; times in seconds of one clock, `ended` 0 while it is under way. Bytes are those of the bodies."""

    kind: str
    began: float
    ended: float = 0.0
    sent: int = 0
    received: int = 0


@dataclass(frozen=True)
class Account:
    """Of one operation: requests by kind, its round trips, bytes of bodies both ways."""

    kinds: dict[str, int]
    round_trips: int
    sent: int
    received: int

    @property
    def requests(self) -> int:
        return sum(self.kinds.values())


def account(requests: Iterable[Request]) -> Account:
    found = list(requests)
    kinds = Counter(r.kind for r in found)
    return Account(
        {kind: kinds[kind] for kind in KINDS if kinds[kind]},
        round_trips(found),
        sum(r.sent for r in found),
        sum(r.received for r in found),
    )


def round_trips(requests: Iterable[Request]) -> int:
    """The most requests of which each began after the one before it had ended: those that were waited for one by one."""
    trips, free = 0, float("-inf")
    for request in sorted(requests, key=lambda r: r.ended):
        if request.began >= free:
            trips += 1
            free = request.ended
    return trips


def kind_of(method: str, target: str) -> str:
    """`list` for a listing; otherwise the method, in small letters."""
    query = target.partition("?")[2]
    names = {part.partition("=")[0] for part in query.split("&")}
    is_list = method == "GET" and bool(names & {"list-type", "prefix", "delimiter"})
    return "list" if is_list else method.lower()
