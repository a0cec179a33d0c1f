"""Recompute tasks of a campaign in another way, where there is one, compare them, and say what that proves."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from random import Random

import numpy as np
from numpy.typing import NDArray

from db import Export
from jobs.pools.evaluation import evaluate
from langford.arithmetic.residue import residue
from langford.devices import Device
from langford.errors import BadInput
from langford.machine.process import computing_threads
from langford.methods import METHODS, Plan, method_hash
from langford.provenance import device_and_model, read, written
from langford.result import Evaluation, PartialResult
from langford.words import percent, plain, several


@dataclass(frozen=True)
class Comparison:
    """The value of a task in the ledger, and the value that was computed here.

    What is computed here is None when the task is not done yet; the numbers of terms that are not 0 (see
    Plan.terms) are None where they are not known.
    """

    index: int
    stored: int | None
    recomputed: int | None
    evaluation: Evaluation | None = None
    stored_terms: int | None = None
    recomputed_terms: int | None = None

    @property
    def words(self) -> str:
        """Both numbers of terms only where they differ."""
        return values_in_words(self.stored, self.recomputed, self.stored_terms, self.recomputed_terms)

    @property
    def verdict(self) -> str:
        """ "agrees", "differs" or "not done yet"."""
        if self.stored is None:
            return "not done yet"
        alike = self.stored == self.recomputed and self.stored_terms == self.recomputed_terms
        return "agrees" if alike else "differs"


def values_in_words(stored: object, recomputed: object, stored_terms: object, recomputed_terms: object) -> str:
    if stored_terms == recomputed_terms:
        return f"stored {stored}, recomputed {recomputed}"
    return f"stored {stored} from {stored_terms} terms, recomputed {recomputed} from {recomputed_terms}"


@dataclass(frozen=True)
class Recomputation:
    """A way to compute the tasks of a campaign again."""

    campaign: Plan
    plan: Plan
    owners: NDArray[np.int64]  # the task of the campaign to which each of them belongs, see Plan.owners
    device: Device
    words: str  # the comparison that this makes

    @cached_property
    def _by_owner(self) -> NDArray[np.int64]:
        return np.argsort(self.owners, kind="stable")

    @property
    def at_once(self) -> int:
        return self.device.at_once

    def parts(self, index: int) -> list[int]:
        """The tasks of the plan whose values add up to that of a task of the campaign."""
        first, last = np.searchsorted(self.owners, [index, index + 1], sorter=self._by_owner).tolist()
        parts: list[int] = self._by_owner[first:last].tolist()
        return parts

    def part(self, part: int) -> Evaluation:
        """Raises CheckFailed."""
        return evaluate(self.plan, part, self.device)

    def terms(self, parts: Collection[Evaluation]) -> int | None:
        """How many terms that are not 0 a task has been added up from, 0 for no parts; None for a search."""
        terms = [self.plan.terms(part.result) for part in parts]
        known = [number for number in terms if number is not None]
        return sum(known) if len(known) == len(terms) else None

    def evaluation(self, index: int, parts: Collection[Evaluation]) -> Evaluation:
        value = sum(part.result.value for part in parts)
        result = PartialResult(index, value, residue(value), sum(part.result.evaluated for part in parts))
        provenance = written(method_hash(self.plan.method.name), self.device.described, how=self.words)
        return Evaluation(result, sum(part.seconds for part in parts), provenance)


def recomputation(plan: Plan, method_name: str | None, device: Device) -> Recomputation:
    """The most independent way to recompute the tasks of a plan.

    Args:
        plan: of the campaign.
        method_name: another method whose tasks are comparable, or None for the plan's own.
        device: where.

    Raises BadInput, and as Method.plan and Plan.evaluator.
    """
    other = plan
    if method_name not in (None, plan.method.name):
        other = METHODS[str(method_name)].plan(plan.problem, plan.depth)
        if plan.owners(other) is None:
            raise BadInput(
                f"no task of {plan.method.name} can be compared with tasks of {other.method.name}: leave --method "
                "out to compare tasks, or compare the whole count with "
                f"`langford confirm NAME --method {other.method.name}` (without a ledger: "
                f"`langford count --method {other.method.name}`)"
            )
    chosen, deeper = other, other.deeper()
    owners = None if deeper is None else plan.owners(deeper)
    split = f"at the same depth, {other.depth}, the deepest"
    if deeper is not None and owners is not None:
        split, chosen = f"as sums of the tasks at depth {deeper.depth}", deeper
    else:
        owners = plan.owners(other)
    assert owners is not None
    seed = f" with the same seed {chosen.seed}" if chosen.method.seeded else ""
    chosen.evaluator(device)
    how = f"{chosen.method.name}{seed}, {split}, using {device.kernel_words}"
    return Recomputation(plan, chosen, owners, device, how)


def compare(
    export: Export, way: Recomputation, indices: Sequence[int], done: Callable[[int, float], object]
) -> Iterator[Comparison]:
    """Evaluate each task again and compare it with the results of a campaign.

    The parts of a task are evaluated on all cores, so that one large task uses them too.

    Args:
        export: the results.
        way: how.
        indices: of the tasks.
        done: called after each part with the task to which it belongs, and its share of the work of the task.
    """
    stored = {evaluation.result.index: evaluation for evaluation in export.results}
    parts = chain.from_iterable(way.parts(index) for index in indices if index in stored)
    with computing_threads(way.at_once) as pool:
        evaluated = _ahead(pool, way.part, parts, 2 * way.at_once)
        for index in indices:
            if index not in stored:
                yield Comparison(index, None, None)
                continue
            work, again = way.plan.work[way.parts(index)], []
            for share in (work / work.sum()).tolist():
                again.append(next(evaluated))
                done(index, share)
            if not again:  # a search finds nothing deeper: the sum of no tasks is 0
                done(index, 1.0)
            recomputed, known = way.evaluation(index, again), stored[index]
            terms = way.campaign.terms(known.result)
            yield Comparison(
                index, known.result.value, recomputed.result.value, recomputed,
                terms, None if terms is None else way.terms(again),
            )  # fmt: skip


def _ahead(
    pool: Executor, function: Callable[[int], Evaluation], items: Iterable[int], most: int
) -> Iterator[Evaluation]:
    """The results in the order of the items; up to ``most`` calls are in the pool at a time."""
    begun: deque[Future[Evaluation]] = deque()
    for item in items:
        if len(begun) == most:
            yield begun.popleft().result()
        begun.append(pool.submit(function, item))
    while begun:
        yield begun.popleft().result()


@dataclass(frozen=True)
class Coverage:
    """How much of a campaign a verification compared, and how the tasks were chosen."""

    compared: int
    done: int
    tasks: int
    work: float  # share of the work of all tasks that was compared
    seed: int | None  # of the random choice; None when the tasks were named, or waited
    waited: bool = False  # whether they were chosen because they waited for a recheck or a decision

    def finds(self, wrong: int) -> float:
        """The probability that a random choice of this size contains at least one of ``wrong`` wrong tasks."""
        left, drawn = self.done - self.compared, range(min(wrong, self.done))
        return 1.0 - math.prod(max(0, left - k) / (self.done - k) for k in drawn)

    @property
    def words(self) -> str:
        seed = "" if self.seed is None else f", seed {self.seed}"
        return f"{self.compared:,} of {several(self.tasks, 'task')}, {percent(self.work, 2)} of the work{seed}"

    @property
    def proof(self) -> str:
        if self.compared == self.tasks:
            return "every task was compared: a wrong one would have been found"
        if self.seed is None:
            reason = "because they waited for a recheck or a decision" if self.waited else "by name"
            return f"these tasks were chosen {reason}: this says nothing about the others"
        more = [
            f"at least one of {wrong} with {self._probability(wrong)}" for wrong in (10, 100) if wrong < self.done
        ]
        one = f"a sample of this size would catch one wrong task with probability {self._probability(1)}"
        return ", ".join([one, *more])

    def _probability(self, wrong: int) -> str:
        """1 only where it is certain."""
        found = self.finds(wrong)
        return f"{found if found == 1.0 else min(found, 0.999):.3g}"


def sample_size(text: str, done: int) -> int:
    """How many tasks a sample has.

    Args:
        text: "5%" of those that are done, rounded up, or "12".
        done: how many are done.
    """
    if text.endswith("%"):
        return min(done, math.ceil(done * float(text[:-1]) / 100))
    return min(done, int(text))


def choose(done: Collection[int], size: int, seed: int) -> list[int]:
    """Random tasks, in increasing order; the same seed gives the same choice.

    Args:
        done: the tasks of which they are.
        size: how many.
        seed: of the choice.
    """
    return sorted(Random(seed).sample(sorted(done), size))


def sources(evaluations: Collection[Evaluation], by_model: bool = False) -> dict[str, int]:
    """How many results come from each device and each version of the kernels, by "kernels … on …".

    Args:
        evaluations: the results.
        by_model: all GPUs of one model are one device.
    """
    counted: dict[str, int] = {}
    for evaluation in evaluations:
        known = read(evaluation.provenance)
        where = known.get("device", "an unknown device")
        words = plain(
            f"kernels {known.get('kernels', 'unknown')} on {device_and_model(where)[1] if by_model else where}"
        )
        counted[words] = counted.get(words, 0) + 1
    return dict(sorted(counted.items()))


def stale(evaluations: Iterable[Evaluation], method: str) -> int:
    """How many of these results come from other kernels than those of this program for the method."""
    here = method_hash(method)
    return sum(read(evaluation.provenance).get("kernels") != here for evaluation in evaluations)
