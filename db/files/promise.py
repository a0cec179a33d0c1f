"""What an export says of replication: the share that was promised, what was drawn, and who confirmed what.

A promise travels with the results (format 2 of :mod:`db.files.exports`); files of format 1 record none.  Voters are
numbers that mean nothing outside of their file, in the order in which its results name them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from db.files.fields import BadMessage, exactly, integer, real
from db.records import Replication

Voters = tuple[int, int]
"""The voter of a result, and the voter that confirmed it."""
NOT_RECORDED = "no promise recorded"
NOTHING = "nothing was promised (--replicate 0)"
BY_VOTERS = ("voter", "confirmed_by")
"""Fields of a result that another voter confirmed: both, or none."""
FLAGS = ("drawn", "decided")
"""Fields of a result that are true, or missing."""


@dataclass(frozen=True)
class Promise:
    """A promise that results are confirmed before they are merged, and how far it is kept.

    Attributes:
        share: of the results that independent voters confirm, from 0 to 1; 0: nothing was promised.
        drawn: the tasks whose results were drawn; none at a share of 0.
        confirmed: who confirmed which results, by task; None: the operator decided.
    """

    share: float
    drawn: frozenset[int] = frozenset()
    confirmed: Mapping[int, Voters | None] = field(default_factory=dict)

    @property
    def replication(self) -> Replication:
        """How far the promised share is replicated."""
        return Replication(len(self.drawn), len(self.drawn & self.confirmed.keys()))

    @property
    def missing(self) -> int:
        """How many drawn results nobody has confirmed."""
        return len(self.drawn - self.confirmed.keys())

    def without(self, tasks: Collection[int]) -> Promise:
        """The same without the results of some tasks."""
        kept = {index: voters for index, voters in self.confirmed.items() if index not in tasks}
        return replace(self, drawn=self.drawn.difference(tasks), confirmed=kept).renumbered()

    def renumbered(self) -> Promise:
        """The same with the numbers that its voters have in a file."""
        numbers: dict[int, int] = {}
        confirmed: dict[int, Voters | None] = {}
        for index, voters in sorted(self.confirmed.items()):
            confirmed[index] = voters
            if voters is not None:
                voter, other = (numbers.setdefault(each, len(numbers)) for each in voters)
                confirmed[index] = voter, other
        return replace(self, confirmed=confirmed)

    def header(self) -> dict[str, object]:
        """What the header of a file says of a promise that is :meth:`renumbered`."""
        voters = len({voter for pair in self.confirmed.values() if pair is not None for voter in pair})
        return {"promise": self.share, **({"voters": voters} if voters else {})}

    def fields(self, index: int) -> dict[str, object]:
        """What the document of a result says of it."""
        said: dict[str, object] = {"drawn": True} if index in self.drawn else {}
        if index in self.confirmed:
            voters = self.confirmed[index]
            said |= {"decided": True} if voters is None else dict(zip(BY_VOTERS, voters, strict=True))
        return said


def in_words(promise: Promise | None) -> str:
    """A promise and how far it is kept, in words; None: of which nothing is known."""
    if promise is None:
        return NOT_RECORDED
    return f"{promise.replication.words} (--replicate {promise.share:g})" if promise.share else NOTHING


def document(promise: Promise | None) -> dict[str, object]:
    """A promise as fields of a JSON object; ``promised`` is null where none is recorded."""
    said: dict[str, object] = {"promised": None if promise is None else promise.share, "promise": in_words(promise)}
    if promise is not None and promise.drawn:
        said |= {"drawn": promise.replication.drawn, "replicated": promise.replication.replicated}
    return said


def joined_promise(parts: Sequence[tuple[Collection[int], Promise | None]]) -> Promise | None:
    """The promise of several files of one campaign: no file lowers what another one promises.

    The largest share counts.  All results of a file that promises less, or records no promise, are drawn: nobody
    knows which of them the larger share would have drawn.  A result is confirmed only if each file that has it says
    so.  Where no file promises anything, and one of them records no promise, none is recorded.

    Args:
        parts: the tasks of each file, and its promise.
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
    return Promise(share, frozenset(drawn), kept).renumbered()


class PromiseReader:
    """Reads what the documents of a file say of its promise; each method raises BadMessage."""

    def __init__(self, header: Mapping[str, Any], results: int) -> None:
        """
        Args:
            header: of the file, whose "promise" and "voters" are not checked yet.
            results: how many results the file has.
        """
        self._share = real(header["promise"])
        if self._share > 1:
            raise BadMessage(f"expected a promised share from 0 to 1, not {self._share:g}")
        self._voters = integer(header.get("voters", 0), 0, 2 * results)
        self._drawn: set[int] = set()
        self._confirmed: dict[int, Voters | None] = {}
        self._seen = 0

    def exactly(self, document: Any, *names: str) -> dict[str, Any]:
        """The document of a result, if it has these fields, and those of a promise."""
        by_voters = BY_VOTERS if isinstance(document, dict) and not document.keys().isdisjoint(BY_VOTERS) else ()
        return exactly(document, *names, *by_voters, optional=FLAGS)

    def read(self, index: int, fields: Mapping[str, Any]) -> None:
        """Note what the result of a task says."""
        for flag in FLAGS:
            if fields.get(flag, True) is not True:
                raise BadMessage(f"expected that {flag} is true, or missing")
        if "drawn" in fields:
            if not self._share:
                raise BadMessage("it has a drawn result, and promises no share")
            self._drawn.add(index)
        elif self._share == 1:
            raise BadMessage("it promises to replicate all results, and has one that was not drawn")
        if BY_VOTERS[0] in fields:
            if "decided" in fields:
                raise BadMessage("it has a result that a voter confirmed and the operator decided")
            voter, other = (self._voter(fields[name]) for name in BY_VOTERS)
            if voter == other:
                raise BadMessage("it has a result whose voter confirms itself")
            self._confirmed[index] = voter, other
        elif "decided" in fields:
            self._confirmed[index] = None

    def _voter(self, value: Any) -> int:
        """The number of a voter: one that was named before, or the next one."""
        number = integer(value, 0, min(self._seen, self._voters - 1))
        self._seen = max(self._seen, number + 1)
        return number

    def promise(self) -> Promise:
        """The promise, when all results were read."""
        if self._seen != self._voters:
            raise BadMessage(f"expected {self._voters} voters, its results name {self._seen}")
        return Promise(self._share, frozenset(self._drawn), self._confirmed)
