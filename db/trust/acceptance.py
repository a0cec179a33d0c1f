"""Results that workers deliver, or that are imported: each is accepted, compared or refused, in one transaction."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from db.attempts import Credential, Delivery, Receipt, digest, fresh_nonce
from db.files.exports import origin
from db.records import AttemptRecord, CampaignRecord, Computation
from db.states import EventKind, Outcome, VoterKind
from db.store.transaction import Transaction
from db.trust import complaints, enrolment, waiting, witnesses
from db.trust.terms import EVERYTHING, Terms
from db.work import catalogue, computations, leases, owned, results, transitions
from langford.errors import CheckFailed
from langford.methods import Plan
from langford.result import Evaluation
from langford.words import several

T = TypeVar("T")
NO_COMPUTATIONS: Mapping[int, Computation] = MappingProxyType({})
ACCEPTED = Receipt.of(None)
MAX_VALUES = 2
"""Different values of one attempt that are kept: two contradict each other, more would only fill the ledger."""

BATCH = 2_000
"""Exported results that are taken at a time."""


class Overtaken(Exception):
    """Another transaction inserted the first result of a task: start again, one transaction at a time."""


@dataclass(frozen=True)
class Judged:
    """A delivery and what is known of it before other results of its task are considered."""

    delivery: Delivery
    attempt: AttemptRecord | None  # None: see db.work.owned.of_deliveries
    # Why its result fails the checks of the plan; None: it passes them, or ``attempt`` is None
    fault: str | None

    @property
    def index(self) -> int:
        return self.delivery.index

    @property
    def value(self) -> str:
        return str(self.delivery.evaluation.result.value)

    def receipt(self, accepted: Mapping[int, tuple[str, int]]) -> Receipt:
        """``accepted``: the accepted results by task: (value as decimal text, attempt)."""
        attempt_id = self.delivery.attempt
        if self.attempt is None:
            detail = f"the nonce is not that of attempt {attempt_id} at task {self.index}"
            return Receipt.of(EventKind.REFUSED, detail)
        if self.fault is not None:
            return Receipt.of(EventKind.REFUSED, self.fault)
        accepted_value, accepted_id = accepted[self.index]
        if (self.value, attempt_id) == (accepted_value, accepted_id):
            return ACCEPTED
        kind = EventKind.CONFIRMED if self.value == accepted_value else EventKind.CONFLICT
        return Receipt.of(kind, f"{self.value} by attempt {attempt_id}, {accepted_value} by attempt {accepted_id}")


def accept(
    transaction: Transaction,
    campaign: CampaignRecord,
    plan: Plan,
    deliveries: Sequence[Delivery],
    terms: Terms = EVERYTHING,
    one_at_a_time: bool = False,
) -> tuple[list[Receipt], int]:
    """Take results (:meth:`db.WorkerCampaign.deliver`); returns what became of each, and how many are of use.

    ``one_at_a_time``: wait for other transactions even if all results seem to be first ones; else this raises
    Overtaken, and the transaction must be undone.
    """
    if one_at_a_time:
        transitions.one_at_a_time(transaction)
    shown = owned.of_deliveries(transaction, deliveries)
    if not any(shown):
        catalogue.require_undeleted(transaction.connection, campaign)
    if not one_at_a_time and any(attempt.accepted for attempt in shown if attempt is not None):
        # Votes will be counted.
        transitions.one_at_a_time(transaction)
        shown, one_at_a_time = owned.of_deliveries(transaction, deliveries), True
    judged = [
        _judged(plan, terms.plausible(delivery, attempt), attempt)
        for delivery, attempt in zip(deliveries, shown, strict=True)
    ]
    attempts = {row.delivery.attempt: row.attempt for row in judged if row.attempt is not None}

    first: dict[int, Judged] = {}
    for row in judged:
        if row.attempt is not None and row.fault is None and row.attempt.accepted is None:
            first.setdefault(row.index, row)
    candidates = [row.delivery for row in first.values()]
    inserted = results.insert(transaction, candidates, attempts)
    if len(inserted) < len(first):
        if not one_at_a_time:
            raise Overtaken
        # Another transaction was faster: its results are accepted, ours confirm or contradict them.
        shown = owned.of_deliveries(transaction, deliveries)
        first = {index: row for index, row in first.items() if index in inserted}
    accepted = {attempt.index: attempt.accepted for attempt in shown if attempt is not None and attempt.accepted}
    accepted |= {index: (row.value, row.delivery.attempt) for index, row in first.items()}

    testified = witnesses.testimonies(transaction, attempts) if one_at_a_time else {}
    receipts = [row.receipt(accepted) for row in judged]
    refused = any(row.attempt is None or row.fault is not None for row in judged)
    most_refusals = terms.refusals(transaction) if refused else 0
    further = _record(transaction, judged, receipts, accepted, testified, most_refusals)
    results.complete(transaction, [row.delivery for row in first.values()], attempts)
    if further and not one_at_a_time:
        raise Overtaken
    if further:
        testifying = [row.delivery for row in further]
        superseded = [delivery.attempt for delivery in testifying]
        results.note_times(transaction, testifying, attempts)
        transitions.end(transaction, transitions.CHOSEN, Outcome.SUPERSEDED, None, attempts=superseded)
        witnesses.testify(transaction, testifying)
    confirming = sum(row.value == accepted[row.index][0] for row in further)
    return receipts, len(first) + confirming


def refused(receipts: Sequence[Receipt]) -> int:
    return sum(receipt.event is EventKind.REFUSED for receipt in receipts)


def _judged(plan: Plan, delivery: Delivery, attempt: AttemptRecord | None) -> Judged:
    fault = None
    if attempt is not None:
        try:
            plan.expectation(attempt.index).check(delivery.evaluation.result)
        except CheckFailed as error:
            fault = str(error)
    return Judged(delivery, attempt, fault)


def _record(
    transaction: Transaction,
    judged: Sequence[Judged],
    receipts: Sequence[Receipt],
    accepted: Mapping[int, tuple[str, int]],
    testified: dict[int, set[str]],
    most_refusals: float,
) -> list[Judged]:
    """Record what becomes of deliveries; returns those that testify: further results, for which votes are counted.

    ``testified``: the values that each attempt gave before; those of the deliveries are added.
    ``most_refusals``: a liar must not fill the ledger.
    """
    further: list[Judged] = []
    for row, receipt in zip(judged, receipts, strict=True):
        attempt_id = row.delivery.attempt
        if row.fault is not None:
            leases.note(transaction, {attempt_id: row.delivery.evaluation.seconds})
            complaints.complain(transaction, attempt_id, row.index, Outcome.FAILED, row.fault)
            if most_refusals > 0:
                transitions.record(transaction, EventKind.REFUSED, row.index, attempt_id, row.fault)
            most_refusals -= 1
        elif receipt.event in (EventKind.CONFIRMED, EventKind.CONFLICT):
            said = testified.setdefault(attempt_id, set())
            accepted_value, accepted_id = accepted[row.index]
            if attempt_id == accepted_id:
                said.add(accepted_value)
            if row.value not in said and len(said) < MAX_VALUES:
                said.add(row.value)
                transitions.record(transaction, receipt.event, row.index, attempt_id, receipt.detail)
                further.append(row)
    forged = [row.delivery.attempt for row in judged if row.attempt is None]
    if forged and most_refusals > 0:
        # One event for all of them: a stranger must not fill the ledger.
        detail = f"{several(len(forged), 'result')} without the nonce of an attempt (first: attempt {forged[0]})"
        transitions.record(transaction, EventKind.REFUSED, None, None, detail)
    return further


def unknown(transaction: Transaction, evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """The exported results that the campaign has neither imported nor exported before."""
    found: list[Evaluation] = []
    for batch in _batches(evaluations):
        known = results.origins(transaction, [evaluation.result.index for evaluation in batch])
        found += [each for each in batch if (each.result.index, origin(each)) not in known]
    return found


def take(
    transaction: Transaction,
    campaign: CampaignRecord,
    plan: Plan,
    worker_id: str,
    new: Sequence[Evaluation],
    note: Callable[[Evaluation], str],
    known: Mapping[int, Computation] = NO_COMPUTATIONS,
) -> list[Receipt]:
    """Take results without leases, as attempts of an enrolled worker; returns what became of each.

    ``new``: at most one of each task; ``note``: where it comes from; ``known``: the computations by task, unknown
    ones are omitted.
    """
    if not new:
        return []
    transitions.one_at_a_time(transaction)
    nonce, receipts = fresh_nonce(), list[Receipt]()
    attempts, tasks = array("q"), array("q")  # a hundred thousand pairs would take 13 MB
    for batch in _batches(new):
        notes = {evaluation.result.index: note(evaluation) for evaluation in batch}
        ids = results.start(transaction, worker_id, digest(nonce), notes)
        deliveries = [
            Delivery.of(Credential(ids[evaluation.result.index], nonce), evaluation) for evaluation in batch
        ]
        taken, _ = accept(transaction, campaign, plan, deliveries, one_at_a_time=True)
        receipts += taken
        attempts.extend(ids.values())
        tasks.extend(ids)
    computations.keep(transaction, worker_id, attempts, tasks, known)
    return receipts


def judge(
    transaction: Transaction,
    campaign: CampaignRecord,
    plan: Plan,
    evaluations: Sequence[Evaluation],
    worker_id: str,
    host: str,
    process: str,
    device_kind: str,
    kernels: str | None,
) -> list[int]:
    """See :meth:`db.campaign.operator.OperatorCampaign.judge`."""
    transitions.one_at_a_time(transaction)
    undecided = set(waiting.undecided(transaction))
    chosen = [evaluation for evaluation in evaluations if evaluation.result.index in undecided]
    if chosen:
        enrolment.insert_worker(
            transaction.connection, worker_id, host, process, device_kind, kernels, kind=VoterKind.OPERATOR
        )
    take(transaction, campaign, plan, worker_id, chosen, lambda _: "recomputed by the operator")
    return [evaluation.result.index for evaluation in chosen]


def _batches(each: Sequence[T]) -> Iterator[Sequence[T]]:
    """A campaign may have a million results, and what is known of one takes some kilobytes."""
    return (each[start : start + BATCH] for start in range(0, len(each), BATCH))
