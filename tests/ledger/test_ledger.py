"""The ledger's life of a task: one test per transition."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from sqlalchemy import text

from db import Campaign, Credential, Ledger, Replication
from db.errors import (
    CampaignMismatch,
    ConflictingResults,
    NoSuchCampaign,
    UnknownWorker,
    Unreplicated,
)
from db.states import EventKind, Outcome, Role, TaskState
from langford.problem import Problem
from tests.support.campaigns import (
    HOUR,
    KEY,
    PLAN,
    TASKS,
    TRUE,
    deliver,
    delivery,
    events,
    finish,
    forged,
    new_campaign,
    pace,
    task_records,
    true_deliveries,
)
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol


def test_one_name_is_one_campaign(ledger: Ledger, campaign: Campaign) -> None:
    assert ledger.create_campaign("seven", KEY, PLAN.work.tolist()) == campaign == ledger.campaign("seven")
    assert campaign.reader.standing().tasks == {TaskState.READY: TASKS}
    with pytest.raises(CampaignMismatch, match="give this one another name"):
        ledger.create_campaign("seven", replace(KEY, problem=Problem.langford(8)), [1.0])
    with pytest.raises(NoSuchCampaign, match="did you mean seven"):
        ledger.campaign("eight")


def test_leases_are_exclusive_and_largest_first(campaign: Campaign) -> None:
    first = campaign.worker.lease("a", TASKS - 1, HOUR)
    second = campaign.worker.lease("b", TASKS, HOUR)
    assert sorted(lease.index for lease in first + second) == list(range(TASKS))
    work = [lease.work for lease in first + second]
    assert work == sorted(work, reverse=True)
    assert not campaign.worker.lease("a", 1, HOUR)


def test_renewing_tells_zombies_politely(campaign: Campaign) -> None:
    old = campaign.worker.lease("a", 1, -1)[0]
    new = campaign.worker.lease("b", TASKS, HOUR)[0]
    assert campaign.worker.renew([old, new, Credential(999, "")], HOUR) == {new.attempt}


def test_a_late_result_counts_once(campaign: Campaign) -> None:
    late = campaign.worker.lease("a", 1, -1)[0]
    again = next(lease for lease in campaign.worker.lease("b", TASKS, HOUR) if lease.index == late.index)
    assert deliver(campaign, late, TRUE[late.index]) is None
    for _ in range(2):
        assert deliver(campaign, again, TRUE[late.index]) is EventKind.CONFIRMED
    reader = campaign.reader
    assert reader.standing().tasks[TaskState.DONE] == 1
    assert reader.overview().attempts[Outcome.SUPERSEDED] == 1
    assert reader.overview().checked.confirmed == 1
    assert campaign.reader.seconds() == task_records(campaign, TaskState.DONE)[0].seconds
    assert campaign.reader.results() == [TRUE[late.index]]


def test_a_conflict_blocks_the_merge(campaign: Campaign) -> None:
    late = campaign.worker.lease("a", 1, -1)[0]
    again = next(lease for lease in campaign.worker.lease("b", TASKS, HOUR) if lease.index == late.index)
    deliver(campaign, again, TRUE[late.index])
    assert deliver(campaign, late, forged(late.index)) is EventKind.CONFLICT
    with pytest.raises(ConflictingResults, match=f"task {late.index}"):
        campaign.reader.results()


def test_the_same_delivery_twice_is_nothing_and_another_one_a_conflict(campaign: Campaign) -> None:
    lease = campaign.worker.lease("a", 1, HOUR)[0]
    for _ in range(2):
        assert deliver(campaign, lease, TRUE[lease.index]) is None
    assert campaign.reader.overview().checked.confirmed == 0
    assert deliver(campaign, lease, forged(lease.index)) is EventKind.CONFLICT


def test_a_result_that_cannot_be_right_is_a_failure(campaign: Campaign) -> None:
    lease = campaign.worker.lease("a", 1, HOUR)[0]
    assert deliver(campaign, lease, replace(TRUE[lease.index], residue=1)) is EventKind.REFUSED
    reader = campaign.reader
    assert (reader.standing().tasks, reader.overview().attempts) == ({TaskState.READY: TASKS}, {Outcome.FAILED: 1})
    assert task_records(campaign)[lease.index].failures == 1
    assert not campaign.reader.results()


def test_a_batch_is_one_transaction(campaign: Campaign) -> None:
    leases = campaign.worker.lease("a", TASKS, HOUR)
    batch = true_deliveries(leases)
    wrong = delivery(leases[0], forged(leases[0].index))
    assert events(campaign, [*batch, batch[1], wrong]) == [None] * (TASKS + 1) + [EventKind.CONFLICT]
    assert campaign.reader.standing().tasks == {TaskState.DONE: TASKS}


def test_only_failures_of_the_task_set_it_aside(campaign: Campaign) -> None:
    for outcome in (Outcome.PREEMPTED, Outcome.RELEASED) * 3:
        campaign.worker.end(campaign.worker.lease("a", TASKS, HOUR), outcome)
    for last in (False, False, True):
        for lease in campaign.worker.lease("a", TASKS, HOUR):
            assert bool(campaign.worker.end([lease], Outcome.FAILED, "boom")) is last
            assert not campaign.worker.end([lease], Outcome.FAILED, "boom")  # an ended attempt cannot fail again
    assert campaign.reader.standing().tasks == {TaskState.SET_ASIDE: TASKS}
    assert not campaign.worker.lease("a", TASKS, HOUR)
    assert campaign.operator.reopen() == TASKS
    assert len(campaign.worker.lease("a", TASKS, HOUR)) == TASKS


def test_a_share_of_the_results_is_evaluated_again(campaign: Campaign) -> None:
    finish(campaign, "a")
    assert campaign.reader.standing().rechecks == 0
    drawn = [0]
    for share in (0.3, 0.6, 1.0):
        campaign.operator.raise_share(share)  # it holds for what is done already
        drawn.append(campaign.reader.standing().rechecks)
    assert drawn == sorted(drawn)
    assert drawn[-1] == TASKS
    assert not campaign.worker.lease("a", TASKS, HOUR)
    again = campaign.worker.lease("b", TASKS, HOUR)
    assert len(again) == TASKS
    for lease in again[1:]:
        assert deliver(campaign, lease, TRUE[lease.index]) is EventKind.CONFIRMED
    campaign.worker.end([again[0]])
    assert [lease.index for lease in campaign.worker.lease("b", TASKS, HOUR)] == [again[0].index]
    reader = campaign.reader
    assert (reader.standing().rechecks, reader.standing().rechecking) == (1, 1)
    assert reader.replication() == Replication(TASKS, TASKS - 1)
    with pytest.raises(Unreplicated, match=f"{TASKS - 1} of {TASKS} drawn results replicated"):
        campaign.reader.results()
    assert campaign.reader.results(unconfirmed=True) == TRUE


def test_rechecks_go_to_the_other_kernel_first(ledger: Ledger, campaign: Campaign) -> None:
    enrol(ledger, "gpu", "host", "2", "cuda")
    campaign.operator.raise_share(1.0)
    for worker in ("a", "gpu", "a", "gpu"):
        [lease] = campaign.worker.lease(worker, TASKS, HOUR)[-1:]
        deliver(campaign, lease, TRUE[lease.index])
        campaign.operator.release_worker(worker, "enough")
    by_worker = [campaign.worker.lease(worker, 1, HOUR)[0].index for worker in ("a", "gpu")]
    assert len(set(by_worker)) == 2
    campaign.operator.release_worker("a", "")
    campaign.operator.release_worker("gpu", "")
    rechecked = campaign.worker.lease("b", 4, HOUR)  # a CPU: the GPU's results come first
    with ledger.database.reading() as connection:
        kernels = [
            connection.scalar(
                text(
                    "SELECT w.device_kind FROM result r JOIN attempt a ON a.id = r.attempt_id "
                    f"JOIN worker w ON w.id = a.worker_id WHERE r.task_index = {lease.index}"
                )
            )
            for lease in rechecked
            if task_records(campaign)[lease.index].value is not None
        ]
    assert kernels == sorted(kernels, reverse=True)
    assert kernels[0] == "cuda"


def test_the_pace_is_that_of_the_slowest_result_of_a_kind_of_device(ledger: Ledger, campaign: Campaign) -> None:
    enrol(ledger, "gpu", "host", "2", "cuda")
    campaign.worker.end(
        campaign.worker.lease("gpu", 3, HOUR)
    )  # others bring results of these: they say nothing of it
    other = ledger.create_campaign("other", KEY, PLAN.work.tolist())
    for where, worker, paces in ((campaign, "a", [3.0, 5.0, 2.0]), (campaign, "gpu", [0.5]), (other, "a", [9.0])):
        for lease, slow in zip(where.worker.lease(worker, len(paces), HOUR), paces, strict=True):
            where.worker.deliver([delivery(lease, TRUE[lease.index], seconds=slow * lease.work)])
    assert [pace(campaign), pace(campaign, "cuda")] == [pytest.approx(5.0), pytest.approx(0.5)]
    assert [pace(other), pace(other, "cuda")] == [pytest.approx(9.0), None]


def test_attempts_of_other_campaigns_are_left_alone(ledger: Ledger, campaign: Campaign) -> None:
    other = ledger.create_campaign("other", KEY, PLAN.work.tolist())
    [lease] = other.worker.lease("a", 1, HOUR)
    shown = [lease, Credential(2**62, lease.nonce)]
    assert campaign.worker.renew(shown, HOUR) == set()
    campaign.worker.end(shown)
    assert [campaign.worker.end([credential], Outcome.FAILED, "boom") for credential in shown] == [set(), set()]
    assert deliver(campaign, lease, TRUE[lease.index]) is EventKind.REFUSED
    assert other.reader.overview().attempts == {"running": 1}
    assert other.worker.renew(shown, HOUR) == {lease.attempt}


def test_whoever_shows_no_nonce_changes_nothing(campaign: Campaign) -> None:
    first, second = campaign.worker.lease("a", 2, HOUR)
    [other] = campaign.worker.lease("b", 1, HOUR)
    guesses = [
        structs.replace(first, nonce=""),
        structs.replace(first, nonce="guessed"),
        structs.replace(second, nonce=other.nonce),
    ]
    for guess in guesses:
        assert campaign.worker.renew([guess], -1) == set()
        campaign.worker.end([guess], Outcome.PREEMPTED)
        assert not campaign.worker.end([guess], Outcome.FAILED, "boom")
        assert deliver(campaign, guess, TRUE[guess.index]) is EventKind.REFUSED
        assert deliver(campaign, guess, replace(TRUE[guess.index], residue=1)) is EventKind.REFUSED
    assert deliver(campaign, first, TRUE[second.index]) is EventKind.REFUSED
    assert campaign.reader.overview().attempts == {"running": 3}
    assert {task.failures for task in task_records(campaign)} == {0}
    assert campaign.worker.renew([*guesses, first, second], HOUR) == {first.attempt, second.attempt}
    assert deliver(campaign, first, TRUE[first.index]) is None
    campaign.worker.deliver([delivery(guess, TRUE[guess.index]) for guess in guesses])
    told = campaign.reader.history().events[-1].detail
    assert told == f"3 results without the nonce of an attempt (first: attempt {first.attempt})"


def test_a_finished_campaign_takes_late_results_of_its_own_attempts_alone(campaign: Campaign) -> None:
    late, lying = campaign.worker.lease("a", 2, -1)
    finish(campaign, "b")
    assert deliver(campaign, structs.replace(late, nonce="guessed"), forged(late.index)) is EventKind.REFUSED
    assert campaign.reader.overview().checked.conflicts == 0
    assert deliver(campaign, late, TRUE[late.index]) is EventKind.CONFIRMED
    assert deliver(campaign, lying, forged(lying.index)) is EventKind.CONFLICT


def test_the_ledger_keeps_no_nonce(ledger: Ledger, campaign: Campaign) -> None:
    nonces = {lease.nonce for lease in campaign.worker.lease("a", 2, HOUR) + campaign.worker.lease("b", 1, HOUR)}
    assert len(nonces) == 2
    with ledger.database.writing() as connection:
        rows = connection.execute(text("SELECT id, nonce FROM attempt")).all()
        assert not nonces & {row.nonce for row in rows}
        connection.execute(text("UPDATE attempt SET nonce = NULL"))  # as after an upgrade
    assert (
        campaign.worker.renew([Credential(row.id, nonce) for row in rows for nonce in ("", "None", row.nonce)], 1)
        == set()
    )


def test_what_a_worker_does_not_know_of_goes_back_at_once(ledger: Ledger, campaign: Campaign) -> None:
    lost, known = campaign.worker.lease("a", 2, HOUR)
    [foreign] = campaign.worker.lease("b", 1, HOUR)
    other = ledger.create_campaign("other", KEY, PLAN.work.tolist())
    [elsewhere] = other.worker.lease("a", 1, HOUR)
    [again] = campaign.worker.lease("a", 1, HOUR, [known.attempt])
    assert again.index == lost.index
    assert campaign.reader.overview().attempts == {Outcome.RELEASED: 1, "running": 3}
    assert campaign.worker.renew([known, foreign, again], HOUR) == {known.attempt, foreign.attempt, again.attempt}
    assert other.worker.renew([elsewhere], HOUR) == {elsewhere.attempt}
    assert deliver(campaign, lost, TRUE[lost.index]) is None  # it knew after all
    assert {task.failures for task in task_records(campaign)} == {0}


def test_a_worker_that_is_not_enrolled_gets_nothing(ledger: Ledger, campaign: Campaign) -> None:
    with pytest.raises(UnknownWorker, match="enrol"):
        campaign.worker.lease("c", 1, HOUR)
    enrol(ledger, "c", "host", "1", "cpu", "0123456789abcdef")
    assert campaign.worker.lease("c", 1, HOUR)


def test_ledgers_and_campaigns_have_uuids(ledger: Ledger, campaign: Campaign, tmp_path: Path) -> None:
    with new_ledger("sqlite", tmp_path, "other.db") as second:
        uuids = {ledger.uuid, second.uuid, campaign.uuid, new_campaign(second).uuid}
        assert len(uuids) == 4
    assert ledger.campaign("seven").uuid == campaign.uuid


def test_a_campaign_is_equal_to_itself_and_knows_its_share(ledger: Ledger, campaign: Campaign) -> None:
    campaign.operator.raise_share(0.25)
    assert campaign.recheck_share == 0.25
    [again] = ledger.campaigns()
    assert again == campaign
    assert hash(again) == hash(campaign)
    assert again.recheck_share == 0.25
    assert again != ledger.create_campaign("other", KEY, PLAN.work.tolist())


def test_a_long_label_of_a_token_is_cut(campaign: Campaign) -> None:
    campaign.operator.new_token(Role.READER, label="the dashboard in the hall " * 9)
    [kept] = campaign.operator.tokens()
    assert kept.label == ("the dashboard in the hall " * 9)[:100]
