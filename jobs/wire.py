"""What travels between the task server and its workers: JSON, checked field by field.

Integers of results travel as decimal text: they exceed what JSON readers keep exact.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from db import Delivery, Lease
from langford.errors import LangfordError
from langford.result import PartialResult

LONGEST_NUMBER = 200
LONGEST_TEXT = 4_000
MOST_AT_ONCE = 1_000
NO_TEXT = re.compile("[\0\ud800-\udfff]")
"""JSON can spell halves of characters, which no encoding has."""


class BadMessage(LangfordError):
    """A message has a field too many, too few, too long or of another type."""


@dataclass(frozen=True)
class CampaignInfo:
    """What a worker has to know of a campaign, and how far it is."""

    name: str
    problem: str
    method: str
    depth: int
    tasks: int
    work: float
    tasks_by_state: dict[str, int]
    work_by_state: dict[str, float]
    rechecks: int
    """Tasks with a result that wait for another worker's."""

    @property
    def unfinished(self) -> int:
        """Tasks that are neither done nor set aside."""
        return self.tasks_by_state.get("ready", 0) + self.tasks_by_state.get("leased", 0)


def info_of(document: Any) -> CampaignInfo:
    """The CampaignInfo that a document of the server holds."""
    try:
        return CampaignInfo(**document)
    except TypeError as error:
        raise BadMessage(f"the server describes its campaign in another way ({error}): use its version") from error


def delivery_document(delivery: Delivery) -> dict[str, Any]:
    """A delivery as JSON."""
    numbers = {key: str(value) for key, value in asdict(delivery.result).items()}
    return {
        "attempt": delivery.attempt,
        **numbers,
        "seconds": delivery.seconds,
        "provenance": delivery.provenance,
    }


def delivery_of(document: Any) -> Delivery:
    """The delivery that a document holds; raises BadMessage."""
    fields = exactly(document, "attempt", "index", "value", "residue", "evaluated", "seconds", "provenance")
    result = PartialResult(*(number(fields[name]) for name in ("index", "value", "residue", "evaluated")))
    return Delivery(integer(fields["attempt"]), result, real(fields["seconds"]), text(fields["provenance"]))


def lease_of(document: Any) -> Lease:
    """The lease that a document holds; raises BadMessage."""
    fields = exactly(document, "attempt", "index", "work")
    return Lease(integer(fields["attempt"]), integer(fields["index"]), real(fields["work"]))


def exactly(document: Any, *names: str) -> dict[str, Any]:
    """The document, which has these fields and no others."""
    if not isinstance(document, dict) or set(document) != set(names):
        raise BadMessage(f"expected an object with {', '.join(names)}")
    return document


def integer(value: Any, least: int = 0, most: int = 2**62) -> int:
    """A JSON integer within bounds."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadMessage(f"expected an integer from {least} to {most}, not {value!r:.60}")
    return value


def number(value: Any) -> int:
    """An integer of any size in decimal text."""
    if not isinstance(value, str) or len(value) > LONGEST_NUMBER or not value.lstrip("-").isdecimal():
        raise BadMessage(f"expected an integer as decimal text, not {value!r:.60}")
    return int(value)


def real(value: Any) -> float:
    """A finite non-negative number."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 1e18:
        raise BadMessage(f"expected a number, not {value!r:.60}")
    return float(value)


def text(value: Any) -> str:
    """A short text that databases keep as it is."""
    if not isinstance(value, str) or len(value) > LONGEST_TEXT or NO_TEXT.search(value):
        raise BadMessage(f"expected a text of at most {LONGEST_TEXT} characters")
    return value


def several(values: Any) -> list[Any]:
    """A list that is not too long."""
    if not isinstance(values, list) or len(values) > MOST_AT_ONCE:
        raise BadMessage(f"expected a list of at most {MOST_AT_ONCE}")
    return values
