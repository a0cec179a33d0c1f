"""Elements that wait for a reason that does not end by itself, and what to do about it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from slurm.scheduler import Element

PATIENT_ROUNDS = 3
"""In how many rounds in a row an element has such a reason before it counts as one that never starts."""
REMEDIES: Mapping[str, str] = {
    "PartitionTimeLimit": "give a shorter --time, or another partition",
    "PartitionNodeLimit": "give fewer nodes, or another partition",
    "PartitionDown|PartitionInactive": "wait until the partition is up, or give another one",
    "BadConstraints": "ask for what the nodes of the partition have",
    "JobHeldUser|launch failed requeued held|job requeued in held state": "release them: `scontrol release JOB`",
    "JobHeldAdmin": "ask who runs the cluster why they are held",
    "Invalid(Account|QOS)|QOSNotAllowed|AccountNotAllowed": "give an account and a QOS that you may use",
    "(QOS|Assoc)Max(WallDuration|.*PerJob|.*PerNode).*": "ask for less, or give another QOS or account",
}
"""Reasons in the words of squeue, as patterns; each with its remedy."""


def remedy(reason: str) -> str | None:
    """What ends the wait for a reason; None: it may end by itself.

    >>> remedy("PartitionTimeLimit"), remedy("Resources")
    ('give a shorter --time, or another partition', None)
    """
    return next((what for pattern, what in REMEDIES.items() if re.fullmatch(pattern, reason)), None)


class Stuck:
    """The elements of a queue that can never start, by the answers of several rounds."""

    def __init__(self) -> None:
        self._rounds: Counter[str] = Counter()

    def among(self, elements: Iterable[Element]) -> dict[str, int]:
        """By their reason; each call is a round."""
        waiting = {element.id: element.reason for element in elements if remedy(element.reason) is not None}
        self._rounds = Counter({name: self._rounds[name] + 1 for name in waiting})
        return Counter(reason for name, reason in waiting.items() if self._rounds[name] >= PATIENT_ROUNDS)
