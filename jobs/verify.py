"""Recompute tasks of a campaign here in another way, where there is one, and compare them with the ledger."""

from __future__ import annotations

import json
import math
import platform
import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from db import Campaign, Export
from jobs.evaluation import evaluate
from jobs.identity import Identity
from langford.arithmetic.residue import residue
from langford.devices import CPU, Device, cores
from langford.errors import LangfordError
from langford.methods import METHODS, Evaluator, Plan
from langford.methods.host import host_evaluator
from langford.provenance import kernel_hash, versions
from langford.result import Evaluation, PartialResult

HOST = "host"
"""The name of the device on which the GPU's kernel runs compiled for the processor."""


class NotComparable(LangfordError):
    """No task of one method has the value of tasks of the other."""


@dataclass(frozen=True)
class Comparison:
    """The value of a task in the ledger, and the value that was computed here.

    Attributes:
        index: the task.
        stored: its value in the ledger; None when it is not done yet.
        recomputed: its value computed here; None when it is not done yet.
        source: the provenance of the stored value, JSON.
        evaluation: what was computed here, as a result of the task; None when it is not done yet.
    """

    index: int
    stored: int | None
    recomputed: int | None
    source: str = "{}"
    evaluation: Evaluation | None = None

    @property
    def verdict(self) -> str:
        """The comparison in words: "agrees", "differs" or "not done yet"."""
        if self.stored is None:
            return "not done yet"
        return "agrees" if self.stored == self.recomputed else "differs"


@dataclass(frozen=True)
class Recomputation:
    """A way to compute the value of a task.

    Attributes:
        plan: the plan whose tasks are evaluated.
        owners: the task of the campaign to which each of them belongs, see Plan.owners.
        device: where they are evaluated.
        evaluator: evaluates them on the host-compiled kernel; None: the evaluator of the device.
        words: the comparison that this makes.
    """

    plan: Plan
    owners: NDArray[np.int64]
    device: Device
    evaluator: Evaluator | None
    words: str

    def evaluation(self, index: int) -> Evaluation:
        """A task of the campaign, recomputed; raises CheckFailed."""
        start = time.perf_counter()
        parts = [self._part(part) for part in np.flatnonzero(self.owners == index).tolist()]
        value = sum(part.value for part in parts)
        result = PartialResult(index, value, residue(value), sum(part.evaluated for part in parts))
        provenance = {"host": platform.node(), "device": str(self.device), "kernels": kernel_hash(), **versions()}
        how = json.dumps({**provenance, "how": self.words}, sort_keys=True)
        return Evaluation(result, time.perf_counter() - start, how)

    def _part(self, part: int) -> PartialResult:
        if self.evaluator is None:
            return evaluate(self.plan, part, self.device).result
        result = self.evaluator.evaluate(part)
        self.plan.expectation(part).check(result)
        return result


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


def recomputation(plan: Plan, method_name: str | None, device: Device | None) -> Recomputation:
    """The most independent way to recompute the tasks of a plan.

    Args:
        plan: of the campaign.
        method_name: another method whose tasks are comparable, or None for the plan's own.
        device: where; None for the host-compiled kernel of the GPU.

    Raises NotComparable, and as Method.plan and Method.evaluator.
    """
    other = plan
    if method_name not in (None, plan.method.name):
        other = METHODS[str(method_name)].plan(plan.problem, plan.depth)
        if plan.owners(other) is None:
            raise NotComparable(
                f"no task of {plan.method.name} can be compared with tasks of {other.method.name}: leave --method "
                "out to compare tasks, or compare the whole count with "
                f"`langford confirm NAME --method {other.method.name}` (without a ledger: "
                f"`langford count --method {other.method.name}`)"
            )
    deeper = other.deeper()
    owners = None if deeper is None else plan.owners(deeper)
    if deeper is not None and owners is not None:
        split, chosen = f"as sums of the tasks at depth {deeper.depth}", deeper
    else:
        split, chosen, owners = (
            f"in the same split, depth {other.depth}: there is no deeper one",
            other,
            plan.owners(other),
        )
    assert owners is not None
    seed = f" with the same seed {chosen.seed}" if chosen.method.seeded else ""
    how = f"{chosen.method.name}{seed}, {split}, by "
    if device is None:
        how += "the kernel of the GPU, compiled for this processor"
        return Recomputation(chosen, owners, CPU, host_evaluator(chosen), how)
    chosen.evaluator(device)
    how += "the kernel of the processor" if device == CPU else f"the kernel of the GPU on {device}"
    return Recomputation(chosen, owners, device, None, how)


def sample_size(text: str, done: int) -> int:
    """How many of the tasks that are done a sample has: "5%" of them, rounded up, or "12"."""
    if text.endswith("%"):
        return min(done, math.ceil(done * float(text[:-1]) / 100))
    return min(done, int(text))


def choose(done: Collection[int], size: int, seed: int) -> list[int]:
    """``size`` random tasks out of those that are done, in increasing order; the seed repeats the choice."""
    return sorted(Random(seed).sample(sorted(done), size))


def compare(export: Export, way: Recomputation, indices: Sequence[int]) -> Iterator[Comparison]:
    """Evaluate each task again and compare it with the results of a campaign."""
    stored = {evaluation.result.index: evaluation for evaluation in export.results}

    def compared(index: int) -> Comparison:
        if index not in stored:
            return Comparison(index, None, None)
        evaluation, again = stored[index], way.evaluation(index)
        return Comparison(index, evaluation.result.value, again.result.value, evaluation.provenance, again)

    # Kernels release the interpreter; a GPU, and a program compiled for the host, do one thing at a time.
    with ThreadPoolExecutor(cores() if way.device == CPU and way.evaluator is None else 1) as pool:
        try:
            yield from pool.map(compared, indices)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def sources(evaluations: Collection[Evaluation]) -> dict[str, int]:
    """How many results come from each device and each version of the kernels, by "kernels … on …"."""
    counted: dict[str, int] = {}
    for evaluation in evaluations:
        try:
            provenance = json.loads(evaluation.provenance)
        except ValueError:
            provenance = {}
        known = provenance if isinstance(provenance, dict) else {}
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
