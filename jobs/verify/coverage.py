"""How much of a campaign was recomputed, and what that proves."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from random import Random

from jobs.verify.agreement import device, provenance
from langford.provenance import kernel_hash
from langford.result import Evaluation
from langford.words import plain, several


@dataclass(frozen=True)
class Coverage:
    compared: int
    done: int
    tasks: int
    work: float  # share of the work of all tasks that was compared
    seed: int | None  # of the random choice; None when the tasks were named

    def finds(self, wrong: int) -> float:
        """The probability that a random choice of this size contains at least one of ``wrong`` wrong tasks."""
        return 1 - math.exp(
            sum(
                math.log((self.done - self.compared - k) / (self.done - k))
                if self.done - self.compared > k
                else -math.inf
                for k in range(min(wrong, self.done))
            )
        )

    @property
    def words(self) -> str:
        seed = "" if self.seed is None else f", seed {self.seed}"
        return f"{self.compared:,} of {several(self.tasks, 'task')}, {self.work:.2%} of the work{seed}"

    @property
    def proof(self) -> str:
        if self.compared == self.tasks:
            return "every task was compared: a wrong one would have been found"
        if self.seed is None:
            return "these tasks were chosen by name: this says nothing about the others"
        several = ", ".join(
            f"{wrong} wrong ones with {self.finds(wrong):.3g}" for wrong in (10, 100) if wrong < self.done
        )
        return f"a random choice of this size finds a single wrong task with probability {self.finds(1):.3g}" + (
            f", {several}" if several else ""
        )


def sample_size(text: str, done: int) -> int:
    """How many of the tasks that are done a sample has: "5%" of them, rounded up, or "12"."""
    if text.endswith("%"):
        return min(done, math.ceil(done * float(text[:-1]) / 100))
    return min(done, int(text))


def choose(done: Collection[int], size: int, seed: int) -> list[int]:
    """``size`` random tasks of those that are done, in increasing order; the same seed gives the same choice."""
    return sorted(Random(seed).sample(sorted(done), size))


def sources(evaluations: Collection[Evaluation], by_model: bool = False) -> dict[str, int]:
    """How many results come from each device and each version of the kernels, by "kernels … on …".

    by_model: all GPUs of one model are one device.
    """
    counted: dict[str, int] = {}
    for evaluation in evaluations:
        known = provenance(evaluation.provenance)
        where = known.get("device", "an unknown device")
        words = plain(f"kernels {known.get('kernels', 'unknown')} on {device(where)[1] if by_model else where}")
        counted[words] = counted.get(words, 0) + 1
    return dict(sorted(counted.items()))


def stale(counted: dict[str, int], method: str) -> int:
    """How many of these results come from other kernels than those of this program for the method."""
    here = f"kernels {kernel_hash(method)} "
    return sum(number for words, number in counted.items() if not words.startswith(here))
