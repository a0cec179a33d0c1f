"""How many workers a token may have, and which of them are forgotten; on both databases."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path
from unittest.mock import Mock

import pytest
from sqlalchemy import func, insert, select, update

from db import Campaign, Ledger
from db.errors import TooManyWorkers, UnknownWorker
from db.identity import Identity
from db.schema.models import Token, Voter, Worker
from db.states import Ending, Role
from db.trust import enrolment
from db.work import pruning
from db.work.tokens import digest
from jobs.farm.api import server
from tests.support.asgi import Client
from tests.support.campaigns import (
    HOUR,
    NAME,
    delivery,
    forged,
    new_campaign,
    pace,
    terms_of,
    true_deliveries,
    with_token,
)
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol, leave

TOKEN = "a token"


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that a test reaches."""
    monkeypatch.setattr(pruning, "MAX_WORKERS", 20)


@pytest.fixture
def campaign(ledger: Ledger) -> Campaign:
    made = new_campaign(ledger, workers="")
    with ledger.database.writing() as connection:
        row = {"campaign_id": made.campaign_id, "role": Role.WORKER, "digest": digest(TOKEN), "created": 0.0}
        connection.execute(insert(Token).values(row))
    return made


def workers(ledger: Ledger) -> set[str]:
    with ledger.database.reading() as connection:
        return set(connection.scalars(select(Worker.id)))


def voters(ledger: Ledger) -> int:
    with ledger.database.reading() as connection:
        return connection.scalar(select(func.count()).select_from(Voter)) or 0


def pass_time(ledger: Ledger, seconds: float = 2 * HOUR) -> None:
    """As if all workers had been seen earlier."""
    with ledger.database.writing() as connection:
        connection.execute(update(Worker).values(last_seen=Worker.last_seen - seconds))


def arrive(ledger: Ledger, *names: str, token: str = TOKEN) -> None:
    for name in names:
        enrol(ledger, name, f"host-{name}", "1", terms=terms_of(token))


def test_a_token_has_only_so_many_workers(ledger: Ledger) -> None:
    many = [f"w{number}" for number in range(20)]
    arrive(ledger, *many)
    with pytest.raises(TooManyWorkers, match=r"20 workers .* another token"):
        arrive(ledger, "one more")
    arrive(ledger, *many)  # those that are known may repeat it
    arrive(ledger, "another's", token="another token")
    arrive(ledger, *(f"direct-{number}" for number in range(30)), token="")
    leave(ledger, "w1", Ending.FINISHED, terms_of(TOKEN))
    with pytest.raises(TooManyWorkers):  # otherwise enrolling and leaving would go on for ever
        arrive(ledger, "one more")


def test_the_workers_of_a_token_are_counted_again_only_when_it_seems_to_have_no_room(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = Mock(wraps=pruning.require_room)
    monkeypatch.setattr(pruning, "require_room", count)
    monkeypatch.setattr(pruning, "COUNT_SECONDS", inf)
    many = [Identity.fresh() for _ in range(20)]
    for each in many:
        with_token(campaign, TOKEN).enrol(each, 1, HOUR, [])
    assert count.call_count == 1
    with pytest.raises(TooManyWorkers):
        with_token(campaign, TOKEN).enrol(Identity.fresh(), 1, HOUR, [])
    assert count.call_count == 2
    with_token(campaign, TOKEN).enrol(many[0], 1, HOUR, [])


def test_who_enrols_gets_tasks_and_again_when_the_answer_was_lost(ledger: Ledger, campaign: Campaign) -> None:
    me = Identity.fresh()
    told, first = with_token(campaign, TOKEN).enrol(me, 2, HOUR, [])
    assert (told, len(first)) == (None, 2)
    with_token(campaign, TOKEN).deliver(true_deliveries(first[:1], 2.0 * first[0].work))
    told, again = with_token(campaign, TOKEN).enrol(me, 2, HOUR, [])
    assert campaign.worker.renew([*first, *again], HOUR) == {lease.attempt for lease in again}
    assert (told, len(workers(ledger))) == (None, 1), "the pace is at most a minute old"
    assert pace(campaign) is None, "of workers without a token"


def test_workers_that_have_worked_and_ended_make_room(ledger: Ledger, campaign: Campaign) -> None:
    """A preempted job that comes back, again and again."""
    for number in range(30):
        arrive(ledger, f"w{number}")
        campaign.worker.end(with_token(campaign, TOKEN).lease(f"w{number}", 1, HOUR))
        leave(ledger, f"w{number}", Ending.PREEMPTED, terms_of(TOKEN))
    assert len(workers(ledger)) == 30


@pytest.mark.parametrize("ended", [None, 1.0], ids=["silent", "ended"])
def test_hundreds_of_workers_that_one_token_invents(tmp_path: Path, ended: float | None) -> None:
    """In twelve hours, in one transaction: nothing of them is left but those of the last hours."""
    refused, shown = 0, digest(TOKEN)
    ledger = new_ledger("sqlite", tmp_path)
    with ledger, ledger.database.writing() as connection:
        for number in range(600):
            if number % 100 == 0:
                connection.execute(update(Worker).values(last_seen=Worker.last_seen - 2 * HOUR, ended=ended))
                for table in (Worker, Voter):
                    rows = connection.scalar(select(func.count()).select_from(table))
                    assert rows is not None
                    assert rows <= 2 * pruning.MAX_WORKERS
            try:
                pruning.require_room(connection, shown)
            except TooManyWorkers:
                refused += 1
                continue
            pruning.prune(connection, pruning.idle(connection, shown))
            enrolment.insert_worker(connection, f"w{number}", f"host-{number}", "1", token=shown)
    assert refused == 600 - 6 * pruning.MAX_WORKERS


def test_only_idle_workers_are_forgotten(ledger: Ledger, campaign: Campaign) -> None:
    arrive(ledger, "idle", "ended", "working", "worked", "delivered")
    arrive(ledger, "another's", token="another token")
    arrive(ledger, "direct", token="")
    leave(ledger, "ended", Ending.FINISHED, terms_of(TOKEN))
    with_token(campaign, TOKEN).lease("working", 1, 9 * HOUR)
    campaign.worker.end(with_token(campaign, TOKEN).lease("worked", 1, HOUR))
    campaign.worker.deliver(true_deliveries(with_token(campaign, TOKEN).lease("delivered", 1, HOUR)))
    pass_time(ledger, pruning.IDLE_SECONDS - 60)
    arrive(ledger, "fresh")
    left = {"working", "worked", "delivered", "another's", "direct", "fresh"}
    assert workers(ledger) == {*left, "idle", "ended"}
    pass_time(ledger, 120)
    arrive(ledger, "later")
    left.add("later")
    assert workers(ledger) == left
    assert voters(ledger) == len(left)
    with pytest.raises(UnknownWorker):  # and enrols again, as after a restored backup
        with_token(campaign, TOKEN).lease("idle", 1, HOUR)
    arrive(ledger, "idle")
    assert len(with_token(campaign, TOKEN).lease("idle", 1, HOUR)) == 1


def test_few_are_forgotten_at_once(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "MAX_WORKERS", 1_000)
    with ledger.database.writing() as connection:
        for number in range(pruning.MAX_AT_ONCE + 50):
            enrolment.insert_worker(connection, f"w{number}", "host", "1", token=digest(TOKEN))
    pass_time(ledger)
    for left in (50, 0):
        arrive(ledger, f"fresh-{left}")
        assert sum(name.startswith("w") for name in workers(ledger)) == left


def test_a_voter_that_was_wrong_is_never_forgotten(ledger: Ledger) -> None:
    """Otherwise a liar's machine would be trusted again."""
    arrive(ledger, "worker")
    with ledger.database.writing() as connection:
        connection.execute(update(Voter).values(distrusted=1.0))
    pass_time(ledger)
    arrive(ledger, "fresh")
    assert workers(ledger) == {"fresh"}
    assert voters(ledger) == 2


def test_a_voter_whose_result_counts_stays(ledger: Ledger, campaign: Campaign) -> None:
    """Though one of its workers is forgotten."""
    arrive(ledger, "a")
    enrol(ledger, "b", "host-a", "2", terms=terms_of(TOKEN))  # the same voter
    [lease] = with_token(campaign, TOKEN).lease("a", 1, HOUR)
    campaign.worker.deliver([delivery(lease, forged(lease.index))])
    pass_time(ledger)
    arrive(ledger, "fresh")
    assert workers(ledger) == {"a", "fresh"}
    assert voters(ledger) == 2


@pytest.mark.parametrize("ledger", ["postgres"], indirect=True)
def test_who_enrols_keeps_its_voter_while_others_are_forgotten(ledger: Ledger) -> None:
    """All on one host, whose voter has no worker again and again."""

    def enrol_many(thread: int) -> None:
        for number in range(25):
            name = f"{thread}-{number}"
            enrol(ledger, name, "host", "1", terms=terms_of(TOKEN))
            with ledger.database.writing() as connection:
                connection.execute(update(Worker).where(Worker.id == name).values(last_seen=1.0))

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(enrol_many, range(4))) == [None] * 4
    with ledger.database.reading() as connection:
        known = set(connection.scalars(select(Voter.id)))
        assert set(connection.scalars(select(Worker.voter_id))) <= known
    assert len(workers(ledger)) < 10


@pytest.fixture
def client(ledger: Ledger, campaign: Campaign) -> Iterator[Client]:
    made = Client(server.application(ledger, [NAME]))
    yield made
    made.close()


def test_a_server_says_so_and_when_to_ask_again(ledger: Ledger, campaign: Campaign, client: Client) -> None:
    headers = {"Authorization": f"Bearer {campaign.operator.new_token(Role.WORKER)}"}
    fixed = {"host": "h", "process": "1", "device_kind": "cpu", "kernels": "k"}
    more = dict.fromkeys(["cores", "processes", "device_model", "slurm_job", "slurm_index"])
    for place in range(21):
        worker = str(uuid.uuid4())
        asked = {"campaign": campaign.uuid, "worker": worker, "count": 1, "seconds": 60, "held": [], "copies": 0}
        document = {"worker": {"worker": worker, **fixed, **more}, "lease": asked}
        answer = client.post(f"/campaigns/{NAME}/workers", json=document, headers=headers)
        assert answer.status_code == (200 if place < 20 else 429)
    assert "this token has 20 workers" in answer.json()["error"]
    assert float(answer.headers["retry-after"]) > 0
    assert len(workers(ledger)) == 20
