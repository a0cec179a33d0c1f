"""Attacks on replication at a ledger, on SQLite and on Postgres: each ends in no wrong count that looks right."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import replace
from math import inf

import pytest
from sqlalchemy import func, select, text, update

from db import Campaign, Export, Ledger, Replication
from db.errors import ConflictingResults, Unreplicated, UntrustedResults, WorkerDistrusted, WrongToken
from db.files.promise import lot
from db.schema import models
from db.schema.models import Result, Witness
from db.states import EventKind, Outcome, Role
from db.trust import acceptance, holding
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
    task_records,
    terms_of,
    true_deliveries,
    with_token,
)
from tests.support.enrolling import enrol


@pytest.fixture(autouse=True)
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token holds whatever it asks for: tests of its share are in tests/farm/test_one_token.py."""
    monkeypatch.setattr(holding.HeldByTokens, "room", lambda counted, token: inf)


@pytest.fixture
def unreplicated(ledger: Ledger) -> Campaign:
    return new_campaign(ledger)


@pytest.fixture
def campaign(unreplicated: Campaign) -> Campaign:
    unreplicated.operator.raise_share(1.0)
    return unreplicated


def start(ledger: Ledger, host: str, token: str = "") -> str:
    """A fresh worker."""
    worker = str(uuid.uuid4())
    enrol(ledger, worker, host, "1", terms=terms_of(token))
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
    return campaign.operator.judge(verdict, str(uuid.uuid4()), "operating", "1")


@pytest.mark.parametrize("ledger", ["sqlite", "postgres"], indirect=True)
def test_one_liar_alone_is_not_merged(ledger: Ledger, campaign: Campaign) -> None:
    assert len(lie(campaign, "a")) == TASKS
    assert lie(campaign, start(ledger, "host-a")) == []  # a machine does not confirm itself after a restart
    with pytest.raises(Unreplicated, match=f"0 of {TASKS} drawn results replicated"):
        campaign.reader.results()
    finish(campaign, "b")
    with pytest.raises(ConflictingResults):
        campaign.reader.results()
    enrol(ledger, "c", "host-c", "1")
    finish(campaign, "c")
    assert campaign.reader.results() == TRUE
    assert campaign.reader.replication() == Replication(TASKS, TASKS)
    with pytest.raises(WorkerDistrusted):
        campaign.worker.lease("a", 1, HOUR)


def test_who_is_found_out_loses_its_leases(ledger: Ledger, campaign: Campaign) -> None:
    first, held = campaign.worker.lease("a", 2, HOUR)
    deliver(campaign, first, forged(first.index))
    for worker in ("b", start(ledger, "host-c")):
        [again] = [lease for lease in campaign.worker.lease(worker, TASKS, HOUR) if lease.index == first.index]
        deliver(campaign, again, TRUE[again.index])
        campaign.operator.release_worker(worker, "that was all")
    assert campaign.worker.renew([held], HOUR) == set()
    assert campaign.reader.standing().tasks == {"done": 1, "ready": TASKS - 1}


def test_a_worker_keeps_to_the_token_with_which_it_enrolled(ledger: Ledger, campaign: Campaign) -> None:
    token, other = campaign.operator.new_token(Role.WORKER), campaign.operator.new_token(Role.WORKER)
    worker = start(ledger, "host", token)
    for shown in ("", other):
        with pytest.raises(WrongToken):
            with_token(campaign, shown).lease(worker, 1, HOUR)
        with pytest.raises(WrongToken):
            enrol(ledger, worker, "host", "1", terms=terms_of(shown))
    assert with_token(campaign, token).lease(worker, 1, HOUR)


def test_an_import_that_was_found_wrong_is_evaluated_again(ledger: Ledger, unreplicated: Campaign) -> None:
    campaign = unreplicated
    take(ledger, [forged(index) for index in range(TASKS)])
    judge(campaign, [0])
    assert len(campaign.reader.results()) == TASKS  # nothing waited for a decision: it changed nothing
    campaign.operator.question([0])
    assert judge(campaign, [0, 1]) == [0]
    campaign.operator.question([1])
    finish(campaign, "a")
    assert campaign.reader.results()[1] == TRUE[1]
    campaign.operator.raise_share(1.0)
    finish(campaign, "a")
    with pytest.raises(ConflictingResults):  # one against the file
        campaign.reader.results()
    finish(campaign, "b")
    assert campaign.reader.results() == TRUE


def test_a_confirmation_by_a_worker_that_loses_trust_is_taken_back(ledger: Ledger, campaign: Campaign) -> None:
    """Two liars confirm each other; when one is found out elsewhere, what it confirmed is asked for again."""
    first, second, *rest = campaign.worker.lease("a", TASKS, HOUR)
    campaign.worker.end(rest)
    events(campaign, [delivery(first, forged(first.index))])
    events(campaign, true_deliveries([second]))
    for worker in ("x", "y"):
        enrol(ledger, worker, f"host-{worker}", "1")
    again = {lease.index: lease for lease in campaign.worker.lease("x", 2, HOUR)}
    events(campaign, [delivery(again[first.index], forged(first.index))])
    assert campaign.reader.replication() == Replication(2, 1)
    events(campaign, [delivery(again[second.index], forged(second.index))])
    [third] = campaign.worker.lease("y", 1, HOUR)
    assert third.index == second.index
    events(campaign, true_deliveries([third]))  # x is found out: its confirmation of the first is void
    assert campaign.reader.replication() == Replication(2, 1)
    assert campaign.reader.rechecked_tasks() == [first.index]
    finish(campaign, "y")
    finish(campaign, "b")
    assert campaign.reader.overview().checked.conflicts == 0
    finish(campaign, "y")
    assert campaign.reader.results() == TRUE


def test_rechecks_are_no_more_than_asked_for_and_those_in_doubt_come_first(campaign: Campaign) -> None:
    lies = lie(campaign, "a")
    judge(campaign, lies[:1])  # the others are those of a liar
    campaign.operator.question(lies[:1])
    assert [lease.index for lease in campaign.worker.lease("b", 1, HOUR)] == lies[:1]
    assert len(campaign.worker.lease("b", 2, HOUR)) == 2


def test_a_result_that_is_exchanged_takes_all_that_belongs_to_it(ledger: Ledger, campaign: Campaign) -> None:
    """Its time and provenance: they would be those of a lie."""
    enrol(ledger, "c", "host-c", "1")
    wrong, true = replace(forged(0), evaluated=7), TRUE[0]
    shared = {*Result.__table__.columns.keys()} & {*Witness.__table__.columns.keys()}

    def row(table: type[Result] | type[Witness]) -> dict[str, object]:
        with ledger.database.reading() as connection:
            columns = [getattr(table, name) for name in sorted(shared)]
            query = select(*columns).where(table.task_index == 0).order_by(table.attempt_id).limit(1)
            return dict(connection.execute(query).mappings().one())

    for number, (worker, result) in enumerate({"a": wrong, "b": true, "c": true}.items()):
        [lease] = [lease for lease in campaign.worker.lease(worker, TASKS, HOUR) if lease.index == 0]
        campaign.worker.deliver([delivery(lease, result, 1.0 + number, f'{{"kernels": "{worker}"}}')])
        campaign.operator.release_worker(worker, "that was all")
        if worker == "a":
            with ledger.database.writing() as connection:
                connection.execute(update(Result).values(accepted=Result.accepted - 60))
            lie_told = row(Result)
        if worker == "b":
            truth = row(Witness)
    assert lie_told["value"] != truth["value"]
    assert (row(Result), row(Witness)) == (truth, lie_told)


def test_liars_do_not_block_the_merge_for_ever(ledger: Ledger, campaign: Campaign) -> None:
    """Each tells lies of its own, so that no two agree; honest work and, in ties, the operator end it."""
    for number in range(5):
        worker = start(ledger, f"liar-{number}")
        while leases := campaign.worker.lease(worker, TASKS, HOUR):
            lies = [forged(lease.index, number + 1) for lease in leases]
            events(campaign, [delivery(lease, wrong) for lease, wrong in zip(leases, lies, strict=True)])
    for host in ("x", "y", "z"):
        finish(campaign, start(ledger, host))
    if campaign.reader.rechecked_tasks():
        with pytest.raises(ConflictingResults, match="tie"):
            campaign.reader.results()
        judge(campaign, campaign.reader.rechecked_tasks())
        finish(campaign, start(ledger, "x"))
    assert campaign.reader.results() == TRUE


def test_the_lot_is_secret(ledger: Ledger, campaign: Campaign) -> None:
    """Who knows everything that workers and files tell cannot know which results are drawn."""
    with ledger.database.reading() as connection:
        secret = connection.scalar(text("SELECT secret FROM campaign"))
    assert len(secret) == 64
    finish(campaign, "a")
    told = [
        campaign.record,
        task_records(campaign),
        campaign.reader.overview(),
        campaign.reader.export().to_bytes(),
    ]
    assert secret not in repr(told)
    another = ledger.create_campaign("other", KEY, PLAN.work.tolist())
    with ledger.database.reading() as connection:
        secrets = connection.scalars(text("SELECT secret FROM campaign")).all()
    assert len(set(secrets)) == 2, another.name


def test_rechecks_are_found_again_whatever_happens_to_them(ledger: Ledger, campaign: Campaign) -> None:
    finish(campaign, "a")
    for deed in ("release", "expire", "fail", "die"):
        worker = start(ledger, "host-b")
        leases = campaign.worker.lease(worker, TASKS, -1 if deed == "expire" else HOUR)
        assert len(leases) == TASKS, deed
        if deed == "release":
            campaign.worker.end(leases)
        if deed in ("fail", "die"):
            outcome = Outcome.FAILED if deed == "fail" else Outcome.DIED
            assert not any(campaign.worker.end([lease], outcome, "boom") for lease in leases)
            assert campaign.worker.lease(worker, TASKS, HOUR) == []  # it has failed at each of them
    with pytest.raises(Unreplicated):
        campaign.reader.results()
    finish(campaign, start(ledger, "host-b"))
    assert campaign.reader.results() == TRUE


def test_questions_by_worker_and_by_kernels(ledger: Ledger, unreplicated: Campaign) -> None:
    campaign = unreplicated
    enrol(ledger, "g", "host-g", "1", "cuda", "feed")
    full = "1f2e3d4c-5b6a-4798-8a7b-6c5d4e3f2a1b"
    enrol(ledger, full, "host-f", "1")
    for worker, count in (("a", 3), ("g", 3), (full, 1), ("b", TASKS)):
        leases = campaign.worker.lease(worker, count, HOUR)
        provenance = '{"kernels": "cafe"}' if worker == "b" else "{}"
        campaign.worker.deliver([delivery(lease, TRUE[lease.index], provenance=provenance) for lease in leases])
    assert campaign.operator.question(kernels="caf") == []
    by_worker = campaign.operator.question(worker="a")
    by_host = campaign.operator.question(worker="host-g")
    by_short_name = campaign.operator.question(worker=full[:8])  # as tables show it
    by_provenance = campaign.operator.question(kernels="cafe")
    assert tuple(map(len, (by_worker, by_host, by_short_name, by_provenance))) == (3, 3, 1, TASKS - 7)
    assert campaign.operator.question(kernels="feed") == []  # in question already
    with pytest.raises(UntrustedResults, match=f"{TASKS} results"):
        campaign.reader.results()
    finish(campaign, "a")
    assert campaign.reader.results() == TRUE


def test_no_more_results_are_being_rechecked_than_wait(campaign: Campaign) -> None:
    """A keeper would count workers that nothing waits for; here the operator decides while they work."""
    finish(campaign, "a")
    campaign.worker.lease("b", TASKS, HOUR)
    judge(campaign, range(1, TASKS))
    standing = campaign.reader.standing()
    assert (standing.rechecks, standing.rechecking) == (1, 1)


def test_one_attempt_does_not_fill_the_ledger(ledger: Ledger, campaign: Campaign) -> None:
    finish(campaign, "a")
    [lease] = campaign.worker.lease("b", 1, HOUR)
    for times in range(1, 8):
        assert deliver(campaign, lease, forged(lease.index, times)) is EventKind.CONFLICT
    with ledger.database.reading() as connection:
        assert connection.scalar(select(func.count()).select_from(Witness)) == acceptance.MAX_VALUES


DRAWN = 0.5


def draw(campaign: Campaign, secret: str = "a") -> set[int]:
    """Let tasks be drawn by a certain secret; the tasks."""
    with campaign.database.writing() as connection:
        connection.execute(update(models.Campaign).values(secret=secret))
    campaign.operator.raise_share(DRAWN)
    drawn = {index for index in range(TASKS) if lot(secret, index) < DRAWN}
    assert 0 < len(drawn) < TASKS
    return drawn


@pytest.mark.parametrize("before", [True, False])
def test_tasks_are_drawn_by_the_secret_whoever_evaluates_them(unreplicated: Campaign, before: bool) -> None:
    """Before and after they are evaluated, by whom is all the same."""
    campaign, drawn = unreplicated, set[int]()
    drawn = draw(campaign) if before else drawn
    leases = {worker: campaign.worker.lease(worker, TASKS // 2, HOUR) for worker in "ab"}
    for held in leases.values():
        campaign.worker.deliver(true_deliveries(held))
    drawn = drawn or draw(campaign)
    assert campaign.reader.rechecked_tasks() == sorted(drawn)
    campaign.operator.raise_share(DRAWN / 2)
    assert campaign.recheck_share == DRAWN
    finish(campaign, "a")
    finish(campaign, "b")
    assert campaign.reader.replication() == Replication(len(drawn), len(drawn))


def at(campaign: Campaign, ledger: Ledger, host: str, token: str, results: Iterable[PartialResult]) -> list[int]:
    """Deliver results of those of their tasks that a fresh worker gets; the tasks that it got."""
    mine, worker, known = with_token(campaign, token), start(ledger, host, token), {r.index: r for r in results}
    held = mine.lease(worker, TASKS, HOUR)
    chosen = [lease for lease in held if lease.index in known]
    mine.deliver([delivery(lease, known[lease.index]) for lease in chosen])
    mine.end([lease for lease in held if lease.index not in known])
    return sorted(lease.index for lease in held)


def test_whose_results_were_wrong_once_has_all_of_them_confirmed(ledger: Ledger, unreplicated: Campaign) -> None:
    """Of the token, whatever its hosts are called, before and after; of no other token on the same host."""
    campaign, drawn = unreplicated, draw(unreplicated)
    tokens = {name: campaign.operator.new_token(Role.WORKER) for name in ("liar", "friend", "other")}
    caught = min(drawn)
    sure = [index for index in range(TASKS) if index not in drawn]
    at(campaign, ledger, "one", tokens["liar"], [forged(caught)])
    at(campaign, ledger, "two", tokens["liar"], [TRUE[sure[0]]])
    at(campaign, ledger, "one", tokens["friend"], [TRUE[sure[1]]])
    assert campaign.reader.rechecked_tasks() == [caught]
    at(campaign, ledger, "one", tokens["friend"], [TRUE[caught]])
    at(campaign, ledger, "one", tokens["other"], [TRUE[caught]])
    assert campaign.reader.rechecked_tasks() == [sure[0]]
    at(campaign, ledger, "three", tokens["liar"], [TRUE[sure[2]]])
    at(campaign, ledger, "one", tokens["friend"], [TRUE[sure[3]]])
    assert campaign.reader.rechecked_tasks() == sorted([sure[0], sure[2]])
    at(campaign, ledger, "one", tokens["friend"], TRUE)
    finish(campaign, "a")
    assert campaign.reader.results() == TRUE


@pytest.mark.parametrize("revoked", [False, True])
def test_an_enemy_with_the_names_of_honest_hosts_blocks_nobody(
    ledger: Ledger, campaign: Campaign, revoked: bool
) -> None:
    """Two honest hosts, one with a token and one without, finish; also when the enemy is revoked."""
    enemy, honest = campaign.operator.new_token(Role.WORKER), campaign.operator.new_token(Role.WORKER)
    lies = [forged(index) for index in range(TASKS)]
    half = TASKS // 2
    at(campaign, ledger, "host-a", enemy, lies[:half])
    at(campaign, ledger, "here", enemy, lies[half:])
    if revoked:
        campaign.operator.revoke(enemy)
    for _ in range(2):
        finish(campaign, "a")
        at(campaign, ledger, "here", honest, TRUE)
    assert campaign.reader.results() == TRUE


def test_votes_of_who_was_found_wrong_bar_nobody(ledger: Ledger, campaign: Campaign) -> None:
    """The machine that lied is repaired, and evaluates the same tasks as one of only two."""
    at(campaign, ledger, "host-a", "", [forged(0), *TRUE[1:]])
    assert judge(campaign, [0]) == [0]
    assert at(campaign, ledger, "host-a", "", TRUE) == [*range(1, TASKS)]
    finish(campaign, "b")
    assert campaign.reader.results() == TRUE


def test_results_of_a_revoked_token_stay_and_confirm_nothing(ledger: Ledger, unreplicated: Campaign) -> None:
    campaign, drawn = unreplicated, draw(unreplicated)
    token = campaign.operator.new_token(Role.WORKER)
    at(campaign, ledger, "theirs", token, TRUE)
    at(campaign, ledger, "host-a", "", TRUE)
    assert campaign.reader.results() == TRUE
    assert campaign.operator.revoke(token) == 1
    assert campaign.reader.rechecked_tasks() == sorted(drawn)
    assert at(campaign, ledger, "host-a", "", TRUE) == []
    finish(campaign, "b")
    assert campaign.reader.results() == TRUE
