"""A second campaign that confirms the count of another one: by another method, or by another seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from db import Campaign, Standing
from jobs.verify.agreement import Agreement, agreement, recomputing
from jobs.verify.second_method import relation, second_method, second_seed
from langford.devices import Device
from langford.errors import BadInput, Incomplete, LangfordError
from langford.methods import METHODS, Count, Method, PlanKey, chosen_plan, chosen_seed, find_method
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
        if other.problem != campaign.problem or (key.method, key.seed) == (campaign.key.method, campaign.key.seed):
            continue
        try:
            counts = count, require_complete(other)
        except LangfordError:
            continue  # it proves nothing
        yield Confirmation(campaign.problem, (campaign.name, campaign.key), (other.name, key), counts)


def confirming_plan(
    campaigns: Iterable[Campaign],
    campaign: Campaign,
    method_name: str | None,
    seed: int | None,
    depth: int | None,
    devices: Sequence[Device],
) -> tuple[PlanKey, str]:
    """The plan and the name of the campaign that confirms another one: one that has been begun, or a new one.

    The partial sums of ``miller`` and ``regular`` are the same at one depth.  Another depth would make the two
    no more independent: the values of deeper tasks add up to that of their owner (Plan.owners), both methods
    place the first colours by the same code, and each searches below by its own.  So the depth is the best for
    the method.

    Args:
        campaigns: those of the ledger.
        campaign: the one to be confirmed.
        method_name: None: that of a campaign that has been begun, else :func:`jobs.verify.second_method` chooses.
        seed: None: the default; where the method is the same, the one after that of the campaign.
        depth: None: the best for the device.
        devices: that count at the same time.

    Raises BadInput, MethodDoesNotApply, BadSeed or BadDepth.
    """
    key = campaign.key
    rivals = [each for each in campaigns if each.key.problem == key.problem and depth in (None, each.key.depth)]
    if method_name is None and seed is None:
        begun = _begun(rivals, key, devices[0].kind)
        if begun is not None:
            return begun.key, begun.name
    method = _method(key, method_name, seed, devices)
    seed = second_seed(key, method) if seed is None else chosen_seed(method, seed)
    if (method.name, seed) == (key.method, key.seed):
        raise BadInput(
            f"{campaign.name} is this same sum ({key}), which confirms nothing: choose another --method or --seed"
        )
    for rival in rivals:
        if (rival.key.method, rival.key.seed) == (method.name, seed):
            return rival.key, rival.name
    confirming = chosen_plan(key.problem, devices[0], method.name, depth, seed or None).key
    return confirming, confirming.name


def _begun(rivals: Iterable[Campaign], key: PlanKey, device_kind: str) -> Campaign | None:
    """The campaign by another method that is finished, else the one that can be; None: there is none.

    So the same command resumes, whatever would be chosen now.  A cancelled campaign is left, and so is one by the
    same method: another seed was asked for by another command.
    """

    def rank(standing: Standing, rival: Campaign) -> tuple[bool, int, float]:
        related = relation(METHODS[rival.key.method], METHODS[key.method])
        return standing.missing > 0, related, -standing.share_done

    found = [
        (rank(standing, rival), rival)
        for rival in rivals
        if rival.key.method in METHODS
        and rival.key.method != key.method
        and device_kind in METHODS[rival.key.method].evaluators
        and ((standing := rival.reader.standing()).unfinished or not standing.missing)
    ]
    return min(found, key=lambda each: each[0])[1] if found else None


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
