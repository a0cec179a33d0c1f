"""Verify a campaign: which tasks are recomputed, what that proves, and what it decides."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random

from db import Campaign, Export
from jobs.run.identity import Identity
from jobs.verify.provenance import provenance
from jobs.verify.recomputation import Comparison
from langford.devices import Device
from langford.provenance import kernel_hash
from langford.result import Evaluation


@dataclass(frozen=True)
class Coverage:
    """How much of a campaign was compared.

    Attributes:
        compared: tasks.
        done: tasks that have a result.
        tasks: all tasks.
        work: share of the work of all tasks that was compared.
        seed: of the random choice; None when the tasks were named.
    """

    compared: int
    done: int
    tasks: int
    work: float
    seed: int | None

    def finds(self, wrong: int) -> float:
        """The probability that a random choice of so many tasks has one of ``wrong`` wrong ones among it."""
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
        """The coverage in words."""
        seed = "" if self.seed is None else f", seed {self.seed}"
        return f"{self.compared:,} of {self.tasks:,} tasks, {self.work:.2%} of the work{seed}"

    @property
    def proof(self) -> str:
        """What the comparison proves, in words."""
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
    """``size`` random tasks out of those that are done, in increasing order; the seed repeats the choice."""
    return sorted(Random(seed).sample(sorted(done), size))


def sources(evaluations: Collection[Evaluation]) -> dict[str, int]:
    """How many results come from each device and each version of the kernels, by "kernels … on …"."""
    counted: dict[str, int] = {}
    for evaluation in evaluations:
        known = provenance(evaluation.provenance)
        words = f"kernels {known.get('kernels', 'unknown')} on {known.get('device', 'an unknown device')}"
        counted[words] = counted.get(words, 0) + 1
    return dict(sorted(counted.items()))


def stale(counted: dict[str, int]) -> int:
    """How many of these results come from other kernels than those of this program."""
    here = f"kernels {kernel_hash()} "
    return sum(number for words, number in counted.items() if not words.startswith(here))


def check_all(campaign: Campaign, export: Export) -> list[str]:
    """Check every stored result without recomputing it; returns the checks that passed, in words.

    Raises CheckFailed, ConflictingResults or UntrustedResults.
    """
    expectations = [campaign.plan.expectation(evaluation.result.index) for evaluation in export.results]
    for evaluation, expectation in zip(export.results, expectations, strict=True):
        expectation.check(evaluation.result)
    campaign.results(unconfirmed=True)
    replication = campaign.replication()
    checked = "residue, zero bits and bounds"
    if not any(expectation.zero_bits for expectation in expectations):
        checked = "residue and bounds (there are no zero bits to check)"
    return [
        f"{checked} of all {len(export.results):,} stored results",
        "no conflict, and no result that rests on a distrusted worker alone",
        *([replication.words] if replication.drawn else []),
    ]


def decide(campaign: Campaign, comparisons: Sequence[Comparison], device: Device) -> list[int]:
    """Let what was recomputed decide about the results that wait or are in doubt; returns their tasks.

    The ledger is not changed when there are none among those that were compared.
    """
    undecided = {*campaign.rechecked_tasks()}
    evaluations = [
        each.evaluation for each in comparisons if each.index in undecided and each.evaluation is not None
    ]
    if not evaluations:
        return []
    me = Identity.fresh([device])
    return campaign.judge(evaluations, me.worker_id, me.host, me.process, me.device_kind, me.kernels)
