"""Attacks on replication at a ledger, on SQLite and on Postgres: each ends in no wrong count that looks right."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import case, func, select, text, update

from db import Campaign, Export, Ledger, Replication
from db.errors import ConflictingResults, Unreplicated, UntrustedResults, WorkerDistrusted, WrongToken
from db.schema.models import Result, Voter, Witness
from db.states import EventKind, Role
from db.trust import acceptance
from db.trust.draw import CONTESTED, MIN_VALID
from langford.result import Evaluation, PartialResult
from tests.support.campaigns import (
    HOUR,
    KEY,
    NAME,
    PLAN,
    TASKS,
    TRUE,
    deliver,
    delivery,
    events,
    finish,
    forged,
    new_campaign,
    terms_of,
    true_deliveries,
    with_token,
)


@pytest.fixture
def campaign(ledger: Ledger) -> Campaign:
    made = new_campaign(ledger)
    made.set_recheck_share(1.0)
    return made


def start(ledger: Ledger, host: str, token: str = "") -> str:
    """A fresh worker."""
    worker = str(uuid.uuid4())
    ledger.enrol(worker, host, "1", terms=terms_of(token))
    return worker


def lie(campaign: Campaign, worker: str, token: str = "") -> list[int]:
    """Let a worker lie about all that it gets; the tasks."""
    told: list[int] = []
    while leases := with_token(campaign, token).lease(worker, TASKS, HOUR):
        assert not {lease.index for lease in leases} & set(told)
        events(campaign, [delivery(lease, forged(lease.index)) for lease in leases])
        told += [lease.index for lease in leases]
    return told


def take(ledger: Ledger, results: Iterable[PartialResult]) -> None:
    """Import a file with unknown results."""
    evaluations = tuple(Evaluation(result, 0.5, str(uuid.uuid4())) for result in results)
    ledger.take(Export(NAME, KEY, TASKS, evaluations), PLAN, str(uuid.uuid4()), "importing", "1")


def judge(campaign: Campaign, indices: Iterable[int]) -> list[int]:
    """What the operator recomputed."""
    verdict = [Evaluation(TRUE[index], 0.5, "{}") for index in indices]
    return campaign.judge(verdict, str(uuid.uuid4()), "operating", "1")


@pytest.mark.parametrize("ledger", ["sqlite", "postgres"], indirect=True)
def test_one_liar_alone_is_not_merged(ledger: Ledger, campaign: Campaign) -> None:
    assert len(lie(campaign, "a")) == TASKS
    assert lie(campaign, start(ledger, "host-a")) == []  # a machine does not confirm itself after a restart
    with pytest.raises(Unreplicated, match=f"0 of {TASKS} drawn results replicated"):
        campaign.results()
    finish(campaign, "b")
    with pytest.raises(ConflictingResults):
        campaign.results()
    ledger.enrol("c", "host-c", "1")
    finish(campaign, "c")
    assert campaign.results() == TRUE
    assert campaign.replication() == Replication(TASKS, TASKS)
    with pytest.raises(WorkerDistrusted):
        campaign.lease("a", 1, HOUR)


def test_who_is_found_out_loses_its_leases(ledger: Ledger, campaign: Campaign) -> None:
    first, held = campaign.lease("a", 2, HOUR)
    deliver(campaign, first, forged(first.index))
    for worker in ("b", start(ledger, "host-c")):
        [again] = [lease for lease in campaign.lease(worker, TASKS, HOUR) if lease.index == first.index]
        deliver(campaign, again, TRUE[again.index])
        campaign.release_worker(worker, "that was all")
    assert campaign.renew([held], HOUR) == set()
    assert campaign.standing().tasks == {"done": 1, "ready": TASKS - 1}


def test_one_token_with_invented_workers_has_one_vote(ledger: Ledger, campaign: Campaign) -> None:
    token, other = campaign.new_token(Role.WORKER), campaign.new_token(Role.WORKER)
    lies = lie(campaign, start(ledger, "invented-1", token), token)
    assert len(lies) == TASKS
    assert lie(campaign, start(ledger, "invented-2", token), token) == []
    honest = start(ledger, "honest", other)
    leases = with_token(campaign, other).lease(honest, TASKS, HOUR)
    assert set(events(campaign, true_deliveries(leases))) == {EventKind.CONFLICT}
    assert lie(campaign, start(ledger, "invented-3", token), token) == []
    finish(campaign, "b")
    assert campaign.results() == TRUE


def test_a_worker_keeps_to_the_token_with_which_it_enrolled(ledger: Ledger, campaign: Campaign) -> None:
    token, other = campaign.new_token(Role.WORKER), campaign.new_token(Role.WORKER)
    worker = start(ledger, "host", token)
    for shown in ("", other):
        with pytest.raises(WrongToken):
            with_token(campaign, shown).lease(worker, 1, HOUR)
        with pytest.raises(WrongToken):
            ledger.enrol(worker, "host", "1", terms=terms_of(shown))
    assert with_token(campaign, token).lease(worker, 1, HOUR)


def test_an_import_that_was_found_wrong_is_evaluated_again(ledger: Ledger, campaign: Campaign) -> None:
    campaign.set_recheck_share(0.0)
    take(ledger, [forged(index) for index in range(TASKS)])
    judge(campaign, [0])
    assert len(campaign.results()) == TASKS  # nothing waited for a decision: it changed nothing
    campaign.question([0])
    assert judge(campaign, [0, 1]) == [0]
    campaign.question([1])
    finish(campaign, "a")
    assert campaign.results()[1] == TRUE[1]
    campaign.set_recheck_share(1.0)
    finish(campaign, "a")
    with pytest.raises(ConflictingResults):  # one against the file
        campaign.results()
    finish(campaign, "b")
    assert campaign.results() == TRUE


def test_a_confirmation_by_a_worker_that_loses_trust_is_taken_back(ledger: Ledger, campaign: Campaign) -> None:
    """Two liars confirm each other; when one is found out elsewhere, what it confirmed is asked for again."""
    first, second, *rest = campaign.lease("a", TASKS, HOUR)
    campaign.release(rest)
    events(campaign, [delivery(first, forged(first.index))])
    events(campaign, true_deliveries([second]))
    for worker in ("x", "y"):
        ledger.enrol(worker, f"host-{worker}", "1")
    again = {lease.index: lease for lease in campaign.lease("x", 2, HOUR)}
    events(campaign, [delivery(again[first.index], forged(first.index))])
    assert campaign.replication() == Replication(2, 1)
    events(campaign, [delivery(again[second.index], forged(second.index))])
    [third] = campaign.lease("y", 1, HOUR)
    assert third.index == second.index
    events(campaign, true_deliveries([third]))  # x is found out: its confirmation of the first is void
    assert campaign.replication() == Replication(2, 1)
    assert campaign.rechecked_tasks() == [first.index]
    finish(campaign, "y")
    finish(campaign, "b")
    assert campaign.progress().conflicts == 0
    finish(campaign, "y")
    assert campaign.results() == TRUE


def test_a_confirmation_by_who_is_trusted_no_more_is_asked_for_again_where_it_was_drawn(
    ledger: Ledger, campaign: Campaign
) -> None:
    finish(campaign, "a")
    finish(campaign, "b")
    with ledger.database.writing() as connection:
        connection.execute(update(Voter).where(Voter.host == "host-b").values(distrusted=1.0))
        connection.execute(update(Result).where(Result.task_index == 3).values(lot=0.5))
    for share, drawn in ((0.0, []), (0.5, [*range(3), *range(4, TASKS)]), (0.6, [*range(TASKS)])):
        campaign.set_recheck_share(share)
        assert campaign.rechecked_tasks() == drawn


def test_rechecks_are_no_more_than_asked_for_and_those_in_doubt_come_first(
    ledger: Ledger, campaign: Campaign
) -> None:
    lies = lie(campaign, "a")
    judge(campaign, lies[:1])  # the others are those of a liar
    campaign.question(lies[:1])
    assert [lease.index for lease in campaign.lease("b", 1, HOUR)] == lies[:1]
    assert len(campaign.lease("b", 2, HOUR)) == 2


def test_a_result_that_is_exchanged_takes_all_that_belongs_to_it(ledger: Ledger, campaign: Campaign) -> None:
    """Its time and provenance: they would be those of a lie."""
    ledger.enrol("c", "host-c", "1")
    wrong, true = replace(forged(0), evaluated=7), TRUE[0]
    shared = {*Result.__table__.columns.keys()} & {*Witness.__table__.columns.keys()}

    def row(table: type[Result] | type[Witness]) -> dict[str, object]:
        with ledger.database.reading() as connection:
            columns = [getattr(table, name) for name in sorted(shared)]
            query = select(*columns).where(table.task_index == 0).order_by(table.attempt_id).limit(1)
            return dict(connection.execute(query).mappings().one())

    for number, (worker, result) in enumerate({"a": wrong, "b": true, "c": true}.items()):
        [lease] = [lease for lease in campaign.lease(worker, TASKS, HOUR) if lease.index == 0]
        campaign.deliver([delivery(lease, result, 1.0 + number, f'{{"kernels": "{worker}"}}')])
        campaign.release_worker(worker, "that was all")
        if worker == "a":
            with ledger.database.writing() as connection:
                connection.execute(update(Result).values(accepted=Result.accepted - 60, lot=0.5))
            lie_told = row(Result)
        if worker == "b":
            truth = row(Witness)
    assert lie_told["value"] != truth["value"]
    assert (row(Result), row(Witness)) == (truth | {"lot": CONTESTED}, lie_told)


@pytest.mark.parametrize("liars", [2, 5])
def test_liars_do_not_block_the_merge_for_ever(ledger: Ledger, campaign: Campaign, liars: int) -> None:
    """Each tells lies of its own, so that no two agree; honest work and, in ties, the operator end it."""
    for number in range(liars):
        worker = start(ledger, f"liar-{number}")
        while leases := campaign.lease(worker, TASKS, HOUR):
            lies = [forged(lease.index, number + 1) for lease in leases]
            events(campaign, [delivery(lease, wrong) for lease, wrong in zip(leases, lies, strict=True)])
    for host in ("x", "y", "z"):
        finish(campaign, start(ledger, host))
    if campaign.rechecked_tasks():
        with pytest.raises(ConflictingResults, match="tie"):
            campaign.results()
        judge(campaign, campaign.rechecked_tasks())
        finish(campaign, start(ledger, "x"))
    assert campaign.results() == TRUE


def test_the_lot_is_secret(ledger: Ledger, campaign: Campaign, tmp_path: Path) -> None:
    """Who knows everything that workers and files tell cannot know which results are drawn."""
    with ledger.database.reading() as connection:
        secret = connection.scalar(text("SELECT secret FROM campaign"))
    assert len(secret) == 64
    finish(campaign, "a")
    told = [campaign.record, campaign.task_records(), campaign.progress(), campaign.export().to_bytes()]
    assert secret not in repr(told)
    another = ledger.create_campaign("other", KEY, PLAN.work.tolist())
    with ledger.database.reading() as connection:
        secrets = connection.scalars(text("SELECT secret FROM campaign")).all()
    assert len(set(secrets)) == 2, another.name


def test_the_share_falls_with_a_record_and_starts_again(ledger: Ledger) -> None:
    ledger.create_campaign("many", KEY, [1.0] * 400)
    with ledger.database.writing() as connection:
        connection.execute(text("UPDATE campaign SET secret = 'the same lots whenever this test runs'"))
    campaign = ledger.campaign("many")
    campaign.__dict__["plan"] = PLAN_OF_ANYTHING
    campaign.set_recheck_share(0.01)
    for worker in "ab":
        ledger.enrol(worker, f"host-{worker}", "1")

    def work(worker: str, count: int) -> int:
        """Do this number of tasks, not rechecks; returns how many of their results are drawn."""
        before = campaign.replication().drawn
        leases = [lease for lease in campaign.lease(worker, count, HOUR) if lease.index not in done]
        events(campaign, [delivery(lease, PartialResult(lease.index, 0, 0, 0)) for lease in leases])
        done.update(lease.index for lease in leases)
        return campaign.replication().drawn - before

    def recheck(worker: str) -> None:
        while leases := [lease for lease in campaign.lease(worker, 5, HOUR) if lease.index in done]:
            events(campaign, [delivery(lease, PartialResult(lease.index, 0, 0, 0)) for lease in leases])
        campaign.release_worker(worker, "that was all")

    done: set[int] = set()
    assert work("a", 30) == 30
    recheck("b")
    assert campaign.replication() == Replication(30, 30)
    assert 0 < work("a", 100) < 30  # 1 / 30 of them, and 1%
    restarted = start(ledger, "host-a")
    assert work(restarted, 50) < 20  # the same machine with the same kernels keeps its record
    other = str(uuid.uuid4())
    ledger.enrol(other, "host-a", "1", "cuda", "abc")
    assert work(other, 20) == 20  # another device of it has none
    newer = str(uuid.uuid4())
    ledger.enrol(newer, "host-a", "1", "cpu", "abc")
    assert work(newer, 20) == 20  # nor have other kernels
    recheck("b")
    campaign.release_worker("b", "the end")
    with ledger.database.writing() as connection:
        connection.execute(
            text("UPDATE voter SET distrusted = 1 WHERE host = 'host-a' AND device_kind = 'cpu' AND kernels = ''")
        )
    assert work(start(ledger, "host-a"), MIN_VALID) == MIN_VALID


class PLAN_OF_ANYTHING:  # noqa: N801 -- stands for a plan
    """A plan whose every sum may be 0."""

    @staticmethod
    def expectation(index: int) -> object:
        """Expects nothing."""
        return PLAN.expectation(0)


def test_rechecks_are_found_again_whatever_happens_to_them(ledger: Ledger, campaign: Campaign) -> None:
    finish(campaign, "a")
    for deed in ("release", "expire", "fail", "die"):
        leases = campaign.lease(start(ledger, "host-b"), TASKS, -1 if deed == "expire" else HOUR)
        assert len(leases) == TASKS, deed
        if deed == "release":
            campaign.release(leases)
        if deed == "fail":
            assert not any(campaign.fail(lease, "boom") for lease in leases)
        if deed == "die":
            assert not any(campaign.die(lease, "killed") for lease in leases)
    with pytest.raises(Unreplicated):
        campaign.results()
    finish(campaign, start(ledger, "host-b"))
    assert campaign.results() == TRUE


def test_what_the_operator_recomputed_decides_only_what_waits(ledger: Ledger, campaign: Campaign) -> None:
    finish(campaign, "a")
    assert judge(campaign, [3]) == [3]
    assert campaign.replication() == Replication(TASKS, 1)
    finish(campaign, "b")
    before = campaign.progress()
    assert judge(campaign, range(TASKS)) == []
    assert campaign.progress() == before
    assert campaign.results() == TRUE


def test_questions_by_worker_and_by_kernels(ledger: Ledger, campaign: Campaign) -> None:
    campaign.set_recheck_share(0.0)
    ledger.enrol("g", "host-g", "1", "cuda", "feed")
    full = "1f2e3d4c-5b6a-4798-8a7b-6c5d4e3f2a1b"
    ledger.enrol(full, "host-f", "1")
    for worker, count in (("a", 3), ("g", 3), (full, 1), ("b", TASKS)):
        leases = campaign.lease(worker, count, HOUR)
        provenance = '{"kernels": "cafe"}' if worker == "b" else "{}"
        campaign.deliver([delivery(lease, TRUE[lease.index], provenance=provenance) for lease in leases])
    assert campaign.question(kernels="caf") == []
    by_worker = campaign.question(worker="a")
    by_host = campaign.question(worker="host-g")
    by_short_name = campaign.question(worker=full[:8])  # as tables show it
    by_provenance = campaign.question(kernels="cafe")
    assert tuple(map(len, (by_worker, by_host, by_short_name, by_provenance))) == (3, 3, 1, TASKS - 7)
    assert campaign.question(kernels="feed") == []  # in question already
    with pytest.raises(UntrustedResults, match=f"{TASKS} results"):
        campaign.results()
    finish(campaign, "a")
    assert campaign.results() == TRUE


def test_one_result_in_question_is_one(campaign: Campaign) -> None:
    finish(campaign, "a")
    assert campaign.question([0]) == [0]
    with pytest.raises(UntrustedResults, match=f"^1 result of {campaign.name} is in question"):
        campaign.results()


def test_a_wrong_accepted_result_is_replaced(ledger: Ledger, campaign: Campaign) -> None:
    """A way back from a lie that two believed."""
    lie(campaign, "a")
    lie(campaign, "b")
    assert campaign.results() == [forged(index) for index in range(TASKS)]
    campaign.question(list(range(TASKS)))
    with pytest.raises(UntrustedResults):
        campaign.results()
    for host in ("x", "y"):
        finish(campaign, start(ledger, host))
    assert campaign.results() == TRUE


def test_a_confirmation_speaks_for_a_voter_once(ledger: Ledger, campaign: Campaign) -> None:
    """A good record lets fewer results be drawn: it does not grow by what others do."""
    ledger.enrol("c", "host-c", "1")
    late = campaign.lease("c", TASKS, -1)
    finish(campaign, "a")
    for worker, leases in (("b", campaign.lease("b", TASKS, HOUR)), ("c", late)):
        assert set(events(campaign, true_deliveries(leases))) == {EventKind.CONFIRMED}
        with ledger.database.reading() as connection:
            valid = dict(connection.execute(select(Voter.host, Voter.valid)).all())
        confirmed = {"host-a", "host-b", f"host-{worker}"}
        assert {host: number for host, number in valid.items() if number} == dict.fromkeys(confirmed, TASKS)


def test_no_more_results_are_being_rechecked_than_wait(ledger: Ledger, campaign: Campaign) -> None:
    """A keeper would count workers that nothing waits for; here the share falls while they work."""
    finish(campaign, "a")
    campaign.lease("b", TASKS, HOUR)
    with ledger.database.writing() as connection:
        connection.execute(update(Result).values(lot=case((Result.task_index == 0, 0.1), else_=0.9)))
    campaign.set_recheck_share(0.5)
    standing = campaign.standing()
    assert (standing.rechecks, standing.rechecking) == (1, 1)


def test_one_attempt_does_not_fill_the_ledger(ledger: Ledger, campaign: Campaign) -> None:
    finish(campaign, "a")
    [lease] = campaign.lease("b", 1, HOUR)
    for times in range(1, 8):
        assert deliver(campaign, lease, forged(lease.index, times)) is EventKind.CONFLICT
    with ledger.database.reading() as connection:
        assert connection.scalar(select(func.count()).select_from(Witness)) == acceptance.MAX_VALUES


def test_a_lie_is_told_by_a_token_whatever_its_hosts_are_called(ledger: Ledger) -> None:
    """A host of its own for each lie, each with a good record."""
    campaign = new_campaign(ledger)
    campaign.set_recheck_share(0.001)
    tokens = {host: campaign.new_token(Role.WORKER) for host in ("liar", "friend", "other")}
    hosts = {name: start(ledger, f"host-{name}", tokens["liar"]) for name in ("one", "two")}
    friend, other = (start(ledger, host, tokens[host]) for host in ("friend", "other"))
    with ledger.database.writing() as connection:
        connection.execute(update(Voter).values(valid=10**6))
    [first] = with_token(campaign, tokens["liar"]).lease(hosts["one"], 1, HOUR)
    [second, third] = with_token(campaign, tokens["liar"]).lease(hosts["two"], 2, HOUR)
    events(campaign, [delivery(lease, forged(lease.index)) for lease in (first, second, third)])
    [honest] = with_token(campaign, tokens["friend"]).lease(friend, 1, HOUR)
    events(campaign, true_deliveries([honest]))
    assert not set(campaign.rechecked_tasks()) - {first.index}
    with ledger.database.writing() as connection:  # the lot falls on one of the lies
        connection.execute(update(Result).where(Result.task_index == first.index).values(lot=0.0))
    for worker, token in ((friend, tokens["friend"]), (other, tokens["other"])):
        leases = with_token(campaign, token).lease(worker, TASKS, HOUR)
        again = [lease for lease in leases if lease.index == first.index]
        events(campaign, true_deliveries(again))
        campaign.take_back("for the next")
    assert campaign.rechecked_tasks() == sorted([second.index, third.index])
    with pytest.raises(WorkerDistrusted):
        with_token(campaign, tokens["liar"]).lease(hosts["one"], 1, HOUR)
    # The other host may be honest, and proves it again: its record starts anew.
    [lease] = with_token(campaign, tokens["liar"]).lease(hosts["two"], 1, HOUR)
    events(campaign, true_deliveries([lease]))
    assert campaign.rechecked_tasks() == sorted([second.index, third.index, lease.index])
