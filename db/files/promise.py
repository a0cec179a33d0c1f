"""The promise of an export: the share of results to be replicated, and which of them are drawn and confirmed.

A promise is exported with the results; files of format 1 record none.  It names the digest of the secret by which
tasks are drawn, and the secret itself once the campaign is complete: then a reader draws again.  Files of 1.x
state what is drawn, and nobody can check that.  Voters are numbers, in the order in which the results of
a file name them, without a meaning outside of the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import UNSET

from db.files.forms import Header, Line
from db.messages import BadMessage
from db.records import Replication

Voters = tuple[int, int]
"""(voter of a result, voter that confirmed it)."""
NOT_RECORDED = "no promise recorded"
NOT_REQUESTED = "no replication requested (--replicate 0)"


def lot(secret: str, task: int) -> float:
    """The lot of a task, from 0 to below 1: it is drawn if this is below the share.

    The first 53 bits of the SHA-256 of the secret, a blank and the task in decimal digits, as a fraction.
    """
    digest = hashlib.sha256(f"{secret} {task}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def digest(secret: str) -> str:
    """The SHA-256 of a secret in hexadecimal digits, which is published before the secret is."""
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass(frozen=True)
class Promise:
    """A promise that results are confirmed before they are merged, and how far it is fulfilled."""

    # Share of the results to be confirmed by independent voters, from 0 to 1; 0: nothing was promised
    share: float
    drawn: frozenset[int] = frozenset()  # the tasks whose results were drawn; none if the share is 0
    # The voters of confirmed results, by task; None: the operator decided
    confirmed: Mapping[int, Voters | None] = field(default_factory=dict)
    draw: str = ""  # the digest of the secret of the draw; "": unknown
    secret: str = ""  # "": it is not published yet, or unknown

    @property
    def replication(self) -> Replication:
        return Replication(len(self.drawn), len(self.drawn & self.confirmed.keys()))

    @property
    def missing(self) -> int:
        """Number of drawn results that are not confirmed."""
        return len(self.drawn - self.confirmed.keys())

    def without(self, tasks: Collection[int]) -> Promise:
        kept = {index: voters for index, voters in self.confirmed.items() if index not in tasks}
        return replace(self, drawn=self.drawn.difference(tasks), confirmed=kept).renumbered()

    def renumbered(self) -> Promise:
        """The same with its voters numbered as in a file."""
        numbers: dict[int, int] = {}
        confirmed: dict[int, Voters | None] = {}
        for index, voters in sorted(self.confirmed.items()):
            confirmed[index] = voters
            if voters is not None:
                voter, other = (numbers.setdefault(each, len(numbers)) for each in voters)
                confirmed[index] = voter, other
        return replace(self, confirmed=confirmed)

    def header(self) -> dict[str, Any]:
        """The promise must be :meth:`renumbered`."""
        voters = len({voter for pair in self.confirmed.values() if pair is not None for voter in pair})
        known = {"voters": voters, "draw": self.draw, "secret": self.secret}
        return {"promise": self.share, **{name: value for name, value in known.items() if value}}

    def fields(self, index: int) -> dict[str, Any]:
        fields: dict[str, Any] = {"drawn": True} if index in self.drawn else {}
        if index in self.confirmed:
            voters = self.confirmed[index]
            fields |= {"decided": True} if voters is None else {"voter": voters[0], "confirmed_by": voters[1]}
        return fields


def in_words(promise: Promise | None) -> str:
    """None: not recorded."""
    if promise is None:
        return NOT_RECORDED
    if not promise.share:
        return NOT_REQUESTED
    stated = "" if promise.draw or promise.share == 1 else "; which were drawn is only stated"
    return f"{promise.replication.words} (--replicate {promise.share:g}){stated}"


def document(promise: Promise | None) -> dict[str, object]:
    """``promised`` is null if none is recorded."""
    said: dict[str, object] = {"promised": None if promise is None else promise.share, "promise": in_words(promise)}
    if promise is not None and promise.drawn:
        said |= {"drawn": promise.replication.drawn, "replicated": promise.replication.replicated}
        said |= {name: value for name, value in (("draw", promise.draw), ("secret", promise.secret)) if value}
    return said


def joined_promise(parts: Sequence[tuple[Collection[int], Promise | None]]) -> Promise | None:
    """The promise of several files of one campaign: no file lowers the promise of another.

    The largest share counts.  All results of a file that promises less, or records no promise, are drawn, since it
    is unknown which of them the larger share would have drawn.  A result is confirmed only if each file that
    contains it says so.  If no file promises anything, and one of them records no promise, none is recorded.  The
    draw is known if it is the same in all files.
    """
    stated = [promise.share for _, promise in parts if promise is not None]
    share = max(stated, default=0.0)
    if not share and len(stated) < len(parts):
        return None
    drawn: set[int] = set()
    confirmed: dict[int, Voters | None] = {}
    unconfirmed: set[int] = set()
    for number, (tasks, promise) in enumerate(parts):
        said = {} if promise is None else promise.confirmed
        unconfirmed.update(index for index in tasks if index not in said)
        if share:
            drawn.update(tasks if promise is None or promise.share < share else promise.drawn)
        for index, voters in said.items():
            # Voters of two files may have the same number.
            own = None if voters is None else (voters[0] * len(parts) + number, voters[1] * len(parts) + number)
            confirmed.setdefault(index, own)
    kept = {index: voters for index, voters in confirmed.items() if index not in unconfirmed}
    draws = {("", "") if promise is None else (promise.draw, promise.secret) for _, promise in parts}
    draw, secret = max(draws) if len({draw for draw, _ in draws}) == 1 else ("", "")
    return Promise(share, frozenset(drawn), kept, draw, secret).renumbered()


class PromiseReader:
    """Collects the promise of a file from its lines; each method raises BadMessage."""

    def __init__(self, header: Header) -> None:
        self._share = None if header.promise is UNSET else header.promise
        self._draw = "" if header.draw is UNSET else header.draw
        self._secret = "" if header.secret is UNSET else header.secret
        if self._secret and digest(self._secret) != self._draw:
            raise BadMessage("its secret is not that of its draw")
        self._voters = 0 if header.voters is UNSET else header.voters
        self._drawn: set[int] = set()
        self._confirmed: dict[int, Voters | None] = {}
        self._seen = 0

    def read(self, line: Line) -> None:
        if self._share is None:
            if line.has_promise:
                raise BadMessage("it has a result with a promise, and records none")
            return
        if line.drawn is True:
            if not self._share:
                raise BadMessage("it marks a result as drawn for replication, but promises no share")
            self._drawn.add(line.task)
        elif self._share == 1 or (self._secret and lot(self._secret, line.task) < self._share):
            raise BadMessage(f"it promises to replicate task {line.task}, whose result is not marked as drawn")
        if line.by_voters is not None:
            voter, other = line.by_voters
            self._confirmed[line.task] = self._voter("voter", voter), self._voter("confirmed_by", other)
        elif line.decided is True:
            self._confirmed[line.task] = None

    def _voter(self, field: str, number: int) -> int:
        """One that was named before, or the next one."""
        most = min(self._seen, self._voters - 1)
        if number > most:
            raise BadMessage(f"{field}: expected an integer <= {most}, got {number}")
        self._seen = max(self._seen, number + 1)
        return number

    def promise(self) -> Promise | None:
        """None: the file records none."""
        if self._share is None:
            return None
        if self._seen != self._voters:
            raise BadMessage(f"expected {self._voters} voters, its results name {self._seen}")
        return Promise(self._share, frozenset(self._drawn), self._confirmed, self._draw, self._secret)
