"""A second campaign that confirms the count of another one: by another method, or by another seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from db import Campaign
from jobs.verify.agreement import Agreement, agreement, recomputing
from jobs.verify.second_method import relation, second_method, second_seed
from langford.devices import Device
from langford.errors import BadInput, Incomplete, LangfordError
from langford.methods import METHODS, Count, Method, PlanKey, chosen_plan, find_method
from langford.problem import Problem
from langford.words import portion


@dataclass(frozen=True)
class Confirmation:
    """Two counts of one problem, each computed whole, of which the totals are compared."""

    problem: Problem
    first: tuple[str, PlanKey]
    second: tuple[str, PlanKey]
    counts: tuple[Count, Count]

    @cached_property
    def _known(self) -> Agreement:
        """Asked once: where nothing is published, it takes random walks."""
        return agreement(self.problem, self.counts[0].published)

    @property
    def _is_same(self) -> bool:
        return self.counts[0].arrangements == self.counts[1].arrangements

    @property
    def agrees(self) -> bool:
        """Whether both give the same count, and nothing that is known contradicts it."""
        return self._is_same and self._known.agrees is not False

    @property
    def words(self) -> str:
        (name, key), (other_name, other_key) = self.first, self.second
        if not self._is_same:
            find = recomputing(name, other_name)
            return f"the two counts differ, so at least one result is wrong: find it with {find}"
        if self._known.agrees is False:
            return f"the two counts agree with each other, but not with what is known: {self._known.words}"
        if key.method != other_key.method:
            return f"confirmed: {key.method} and {other_key.method} give the same count"
        return f"confirmed: seeds {key.seed} and {other_key.seed} give different partial results and the same count"

    def document(self) -> dict[str, Any]:
        return {
            "problem": self.problem.name,
            "agrees": self.agrees,
            "words": self.words,
            "campaigns": [
                {
                    "campaign": name,
                    "method": key.method,
                    "depth": key.depth,
                    "seed": key.seed,
                    "tasks": count.tasks,
                    "count": str(count.published),
                    "arrangements": str(count.arrangements),
                    "checks": list(count.checks),
                }
                for (name, key), count in zip((self.first, self.second), self.counts, strict=True)
            ],
        }


def require_complete(campaign: Campaign) -> Count:
    """Raises as :meth:`db.campaign.reader.ReaderCampaign.merged` unless the campaign is complete."""
    missing = campaign.reader.standing().missing
    if missing:
        raise Incomplete(
            f"{campaign.name}: {portion(missing, campaign.tasks, 'task')} no result yet; run them first"
        )
    return campaign.reader.merged()


def confirmations(campaign: Campaign, count: Count, others: Iterable[Campaign]) -> Iterator[Confirmation]:
    """The comparisons with all complete campaigns of the same problem by another sum.

    Args:
        campaign: the one to be confirmed, which is left out.
        count: its count.
        others: campaigns of any problems.
    """
    for other in others:
        key = other.key
        if other.problem != campaign.problem or sum_of(key) == sum_of(campaign.key):
            continue
        try:
            counts = count, require_complete(other)
        except LangfordError:
            continue  # it proves nothing
        yield Confirmation(campaign.problem, (campaign.name, campaign.key), (other.name, key), counts)


def confirming(campaigns: Iterable[Campaign], key: PlanKey, device_kind: str) -> Campaign | None:
    """The campaign that confirms the count of a plan, unless another one is asked for; None: there is none yet.

    One by another sum that is finished, the least related first; else the one by the rule's second sum, so that the
    same command resumes.  One that was cancelled comes last.

    Args:
        campaigns: of any problems; those of the same pattern are looked at.
        key: the plan by which the problem was counted.
        device_kind: on which it is counted again.
    """
    others = [
        each
        for each in campaigns
        if each.key.problem.pattern == key.problem.pattern
        and each.key.method in METHODS
        and sum_of(each.key) != sum_of(key)
    ]
    finished = [each for each in others if not each.reader.standing().missing]
    if finished:
        return min(finished, key=lambda each: relation(METHODS[each.key.method], METHODS[key.method]))
    method = second_method(key, device_kind)
    wanted = None if method is None else (method.name, second_seed(key, method))
    begun = [each for each in others if sum_of(each.key) == wanted]
    return min(begun, key=lambda each: each.reader.standing().is_stopped, default=None)


def sum_of(key: PlanKey) -> tuple[str, int]:
    """Which sum a plan splits: its partial results are those of no other."""
    return key.method, key.seed


def confirming_plan(
    campaigns: Iterable[Campaign],
    campaign: Campaign,
    method_name: str | None,
    seed: int | None,
    depth: int | None,
    devices: Sequence[Device],
) -> tuple[PlanKey, str]:
    """The plan and the name of the campaign that confirms another one: one of the ledger, or a new one.

    The partial sums of ``miller`` and ``regular`` are the same at one depth.  Another depth would make the two
    no more independent: the values of deeper tasks add up to that of their owner (Plan.owners), both methods
    place the first colours by the same code, and each searches below by its own.  So the depth is the best for
    the method.

    Args:
        campaigns: those of the ledger.
        campaign: the one to be confirmed.
        method_name: None: as :func:`confirming` chooses.
        seed: None: the default; where the method is the same, the one after that of the campaign.
        depth: None: the best for the device.
        devices: that count at the same time.

    Raises BadInput, MethodDoesNotApply, BadSeed or BadDepth.
    """
    key = campaign.key
    rivals = [each for each in campaigns if depth in (None, each.key.depth)]
    if method_name is None and seed is None:
        found = confirming(rivals, key, devices[0].kind)
        if found is not None:
            return found.key, found.name
    method = _method(key, method_name, seed, devices)
    seed = second_seed(key, method) if seed is None else method.chosen_seed(seed)
    if (method.name, seed) == sum_of(key):
        raise BadInput(
            f"{campaign.name} is this same sum ({key}), which confirms nothing: choose another --method or --seed"
        )
    for rival in rivals:
        if rival.key.problem == key.problem and sum_of(rival.key) == (method.name, seed):
            return rival.key, rival.name
    plan = chosen_plan(key.problem, devices[0], method.name, depth, seed or None).key
    return plan, plan.name


def _method(key: PlanKey, name: str | None, seed: int | None, devices: Sequence[Device]) -> Method:
    """Raises BadInput or MethodDoesNotApply."""
    kind = devices[0].kind
    if name is not None:
        method = find_method(name, key.problem)
        method.require_kernel(kind)
        return method
    second = second_method(key, kind, seeded=seed is not None)
    if second is None:
        raise BadInput(
            f"no other method with a kernel for {kind} counts {key.problem}"
            f"{' by a seed' if seed is not None else ''}: choose another --device"
        )
    return second
