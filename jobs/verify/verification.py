"""Verify a campaign: choose tasks, recompute and compare them, and conclude what that proves and decides."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from db import Campaign
from db.identity import Identity
from jobs.verify.recomputation import (
    Comparison,
    Coverage,
    choose,
    compare,
    recomputation,
    sample_size,
    sources,
    stale,
)
from jobs.verify.statement import Statement, statement_of
from langford.devices import Device
from langford.errors import CheckFailed, Incomplete, LangfordError
from langford.methods import method_hash

DEFAULT_SAMPLE = "3"


@dataclass(frozen=True)
class Selection:
    """Which tasks of a campaign are verified: those named, those that wait, or a random sample."""

    named: Sequence[int] = ()
    waiting: bool = False  # whether the tasks are those that wait for a recheck or a decision
    # How many random tasks otherwise: a number, "12", or a share of those that are done, "5%"
    sample: str = DEFAULT_SAMPLE
    seed: int | None = None  # of the random choice; None: a random one


@dataclass(frozen=True)
class Conclusion:
    """What a verification found, decided and states."""

    campaign: str
    statement: Statement  # what was compared, in words and as JSON
    comparisons: Sequence[Comparison]
    decided: Sequence[int]  # the tasks that waited, and whose result is now what was recomputed
    stale: int  # how many of the compared results come from other kernels than those of this program

    @property
    def error(self) -> LangfordError | None:
        """Why the verification failed: Incomplete or CheckFailed; None when all values agree."""
        if all(comparison.stored is None for comparison in self.comparisons):
            return Incomplete("nothing was verified: none of these tasks has a result yet; run them first")
        wrong = [comparison.index for comparison in self.comparisons if comparison.verdict == "differs"]
        if not wrong:
            return None
        listed = " ".join(map(str, wrong))
        differs = f"{self.campaign}: the stored value of task {listed} differs from the recomputed one"
        if set(wrong) <= set(self.decided):
            return CheckFailed(f"{differs}; it waited for a decision, and its result is now the recomputed value")
        return CheckFailed(
            f"{differs}, so one of the two is wrong: recompute it on another machine; `langford recheck "
            f"{self.campaign} {listed}` puts it in question, and then workers, or the same verification, decide"
        )


class Verification:
    """A verification of a campaign on this machine.

    Attributes:
        tasks: the indices of the tasks to recompute, at least one.
        work: the work of those of them that have a result, which are recomputed, in the plan's unit.
        share: the share of this in the work of the campaign.
    """

    def __init__(self, campaign: Campaign, selection: Selection, method: str | None, device: Device) -> None:
        """
        Args:
            campaign: of a ledger.
            selection: which tasks.
            method: another one by which they are recomputed; None: the campaign's.
            device: where.

        Raises TaskIndexOutOfRange, Incomplete when no task has a result or none waits, or as
        :func:`recomputation`.
        """
        self.campaign = campaign
        self._device, self._waited = device, selection.waiting
        self._export = campaign.reader.export()
        done = [evaluation.result.index for evaluation in self._export.results]
        for index in selection.named:
            campaign.plan.require(index)
        self._seed: int | None = None
        if selection.named or selection.waiting:
            chosen = sorted({*(campaign.reader.rechecked_tasks() if selection.waiting else selection.named)})
        else:
            self._seed = secrets.randbelow(2**32) if selection.seed is None else selection.seed
            chosen = choose(done, sample_size(selection.sample, len(done)), self._seed)
        self.tasks = chosen
        if not campaign.tasks:
            raise Incomplete(f"nothing was verified: {campaign.name} has no tasks, so its count is 0")
        if not done:
            raise Incomplete(f"nothing was verified: no task of {campaign.name} has a result yet; run them first")
        if not chosen:
            raise Incomplete(
                f"nothing was verified: no result of {campaign.name} waits for a recheck or a decision"
            )
        self._recomputation = recomputation(campaign.plan, method, device)
        self._done, work = done, campaign.plan.work
        self.work = float(work[sorted({*chosen} & {*done})].sum())
        self.share = self.work / float(work.sum())

    @property
    def smallest(self) -> int:
        """The index of the smallest task that has a result."""
        return min(self._done, key=lambda index: float(self.campaign.plan.work[index]))

    def compare(self, progress: Callable[[float], object]) -> Iterator[Comparison]:
        """Recompute the tasks, one after the other.

        Args:
            progress: called after each part of a task with its work, in the plan's unit.
        """
        work = self.campaign.plan.work
        yield from compare(
            self._export, self._recomputation, self.tasks, lambda index, share: progress(float(work[index]) * share)
        )

    def conclude(self, comparisons: Sequence[Comparison]) -> Conclusion:
        """Let the recomputed values decide about results that wait, and state what was found.

        Args:
            comparisons: of :meth:`compare`.
        """
        campaign, key = self.campaign, self.campaign.key
        decided = decide(campaign, comparisons, self._device)
        compared = {comparison.index for comparison in comparisons if comparison.stored is not None}
        coverage = Coverage(len(compared), len(self._done), campaign.tasks, self.share, self._seed, self._waited)
        stored = [each for each in self._export.results if each.result.index in compared]
        statement = statement_of(
            campaign.name, key, comparisons, coverage, self._recomputation.words, self._device,
            sources(stored), campaign.reader.promise(),
        )  # fmt: skip
        return Conclusion(campaign.name, statement, comparisons, decided, stale(stored, key.method))


def decide(campaign: Campaign, comparisons: Sequence[Comparison], device: Device) -> list[int]:
    """Let recomputed values decide about the results that wait or are in doubt; returns their tasks.

    The ledger is not changed when none of the compared tasks is among them.

    Args:
        campaign: of a ledger.
        comparisons: each with the recomputed value.
        device: where they were recomputed.
    """
    undecided = {*campaign.reader.rechecked_tasks()}
    evaluations = [
        each.evaluation for each in comparisons if each.index in undecided and each.evaluation is not None
    ]
    if not evaluations:
        return []
    me = Identity.fresh([device])
    return campaign.operator.judge(
        evaluations, me.worker_id, me.host, me.process, me.device_kind, method_hash(campaign.key.method)
    )
