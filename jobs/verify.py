"""Recompute tasks of a campaign here and compare them with the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from db import Campaign
from db.states import TaskState
from jobs.evaluation import evaluate


@dataclass(frozen=True)
class Comparison:
    """The value of a task in the ledger, and the value that was computed here.

    Attributes:
        index: the task.
        recorded: its value in the ledger; None when it is not done yet.
        recomputed: its value computed here.
    """

    index: int
    recorded: int | None
    recomputed: int

    @property
    def verdict(self) -> str:
        """The comparison in words: "agrees", "differs" or "not done yet"."""
        if self.recorded is None:
            return "not done yet"
        return "agrees" if self.recorded == self.recomputed else "differs"


def choose(campaign: Campaign, sample: int, seed: int | None) -> list[int]:
    """Up to ``sample`` random tasks that are done, in increasing order; a seed repeats the choice."""
    done = [task.index for task in campaign.task_records(TaskState.DONE)]
    return sorted(Random(seed).sample(done, min(sample, len(done))))


def compare(campaign: Campaign, indices: list[int]) -> Iterator[Comparison]:
    """Evaluate each task again; raises TaskIndexOutOfRange before any is evaluated."""
    for index in indices:
        campaign.plan.require(index)
    recorded = {task.index: task.value for task in campaign.task_records()}
    for index in indices:
        value = recorded[index]
        recomputed = evaluate(campaign.plan, index).result.value
        yield Comparison(index, None if value is None else int(value), recomputed)
