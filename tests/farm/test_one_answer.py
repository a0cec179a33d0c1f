"""One history, one answer: what all outputs say was done, begun and lost, and who was busy.

On random histories.  The reference is computed here, from the rows of the tables, by the definitions of
:mod:`db.schema.measures` and :mod:`db.look.figures`.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import select

from db import Campaign, Delivery, Lease, Ledger
from db.look.figures.campaign import CampaignFigures
from db.look.overview import shared
from db.look.read_only import ask_sql
from db.schema.models import Attempt, Result, Witness
from db.states import COMPLAINTS, LOST, Outcome, Role
from jobs.farm.api import server
from jobs.show.report import gathering
from langford.result import Evaluation
from tests.support.asgi import Client
from tests.support.campaigns import NAME, TRUE, new_campaign
from tests.support.cases import exhaustive
from tests.support.database_clock import DatabaseClock, moved_clock
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol

WORKERS = "abc"
LEASE_SECONDS = 100.0


class Story:
    """A campaign to which things happen while the clock stands; it is moved between them."""

    def __init__(self, ledger: Ledger, clock: DatabaseClock) -> None:
        self.ledger, self.clock = ledger, clock
        self.campaign: Campaign = new_campaign(ledger, "")
        for worker in WORKERS:
            enrol(ledger, worker, f"host-{worker}", "1")
        self.held: list[Lease] = []
        self.workers: dict[int, str] = {}
        self.granted: dict[int, float] = {}
        self.said: dict[int, float] = {}  # for how long the worker of an attempt last said that it computed

    @property
    def now(self) -> float:
        assert self.clock.stopped is not None
        return self.clock.stopped + self.clock.ahead

    def lease(self, worker: str, count: int) -> list[Lease]:
        leases = self.campaign.worker.lease(worker, count, LEASE_SECONDS)
        self.held += leases
        self.workers |= {lease.attempt: worker for lease in leases}
        self.granted |= {lease.attempt: self.now for lease in leases}
        return leases

    def say(self, leases: list[Lease], seconds: float) -> dict[int, float]:
        """What a worker says of some attempts; those that have ended keep what was said before."""
        with self.ledger.database.reading() as connection:
            running = set(connection.scalars(select(Attempt.id).where(Attempt.ended.is_(None))))
        for attempt in running & {lease.attempt for lease in leases}:
            known = min(seconds, self.now - self.granted[attempt])
            self.said[attempt] = max(known, self.said.get(attempt, 0.0))
        return {lease.attempt: seconds for lease in leases}

    def deliver(self, lease: Lease, seconds: float = 0.5, began_ago: float | None = None) -> None:
        """Also late, after the attempt has ended."""
        began = None if began_ago is None else self.now - began_ago
        self.campaign.worker.deliver([Delivery.of(lease, Evaluation(TRUE[lease.index], seconds, "{}", began))])

    def lease_of(self, number: int) -> Lease | None:
        return self.held[number % len(self.held)] if self.held else None

    def happen(self, what: str, worker: str, number: int, seconds: float) -> None:
        lease = self.lease_of(number)
        if what == "lease":
            self.lease(worker, 1 + number % 4)
        elif what == "preempt":
            mine = [each for each in self.held if self.workers[each.attempt] == worker]
            self.campaign.worker.end(mine, Outcome.PREEMPTED, "SIGTERM", self.say(mine, seconds))
        elif what == "expire":
            self.clock.move(LEASE_SECONDS + 1)
            self.campaign.worker.lease(worker, 0, LEASE_SECONDS)
        elif lease is None:
            return
        elif what == "deliver":
            self.deliver(lease, seconds, began_ago=seconds)
        elif what == "deliver without a beginning":
            self.deliver(lease, seconds)
        elif what == "renew":
            self.campaign.worker.renew([lease], LEASE_SECONDS, {lease.attempt: 7}, self.say([lease], seconds))
        elif what == "renew what has not begun":
            self.campaign.worker.renew([lease], LEASE_SECONDS, computed=self.say([lease], 0.0))
        elif what == "fail":
            self.campaign.worker.end([lease], Outcome.FAILED, "boom", self.say([lease], seconds))
        elif what == "die":
            self.campaign.worker.end([lease], Outcome.DIED, "signal 9")
        elif what == "release without a word":
            self.campaign.worker.end([lease])


HAPPENINGS = ["lease", "lease", "deliver", "deliver", "deliver without a beginning", "renew", "preempt", "expire"]
HAPPENINGS += ["renew what has not begun", "fail", "die", "release without a word"]
happenings = st.tuples(
    st.sampled_from(HAPPENINGS),
    st.sampled_from(WORKERS),
    st.integers(0, 30),
    st.sampled_from([0.5, 2.0, 7.5]),
    st.sampled_from([0.0, 1.25, 10.0]),
)


@dataclass(frozen=True)
class Cut:
    """What became of an attempt that ended otherwise than by a result."""

    worker: str
    outcome: str
    late: bool
    said: float | None  # for how long it computed; None: its worker said nothing

    @property
    def is_lost(self) -> bool:
        return not self.late and (self.outcome in COMPLAINTS or self.seconds > 0)

    @property
    def seconds(self) -> float:
        return self.said or 0.0


def reference(story: Story) -> tuple[list[Cut], Counter[str]]:
    """(what was cut short, results of each worker), by the definitions and by what its workers said."""
    with story.ledger.database.reading() as connection:
        attempts = connection.execute(select(Attempt.__table__).order_by(Attempt.id)).all()
        brought = {*connection.scalars(select(Result.attempt_id)), *connection.scalars(select(Witness.attempt_id))}
    cuts = [
        Cut(each.worker_id, each.outcome, each.id in brought, story.said.get(each.id))
        for each in attempts
        if each.outcome in LOST
    ]
    delivered = (each.worker_id for each in attempts if each.id in brought)
    return cuts, Counter(delivered)


def answer(ledger: Ledger, question: str) -> list[dict[str, Any]]:
    with ask_sql(ledger.database, f"SELECT * FROM {question} WHERE campaign = '{NAME}'") as rows:
        return [dict(zip(rows.columns, row, strict=True)) for row in rows.rows]


def scraped(text: str) -> dict[tuple[str, str], float]:
    """The value of each sample with an outcome."""
    return {
        (sample.name, sample.labels["outcome"]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if "outcome" in sample.labels
    }


def close(value: float) -> Any:
    return pytest.approx(value, abs=2e-3)


def require_one_answer(made: Story, client: Client) -> None:
    ledger, campaign = made.ledger, made.campaign
    cuts, results = reference(made)
    lost = [cut for cut in cuts if cut.is_lost]
    outcomes = sorted({cut.outcome for cut in cuts if not cut.late})

    def of(outcome: str) -> tuple[int, float]:
        """(number, seconds) of the lost attempts that ended so."""
        seconds = [cut.seconds for cut in lost if cut.outcome == outcome]
        return len(seconds), sum(seconds)

    def of_worker(worker: str) -> tuple[int, float]:
        mine = [cut for cut in lost if cut.worker == worker]
        return len(mine), sum(cut.seconds for cut in mine)

    free = [cut for cut in cuts if not cut.late and not cut.is_lost]
    unbegun = Counter(cut.outcome for cut in free if cut.said is not None)
    unknown = Counter(cut.outcome for cut in free if cut.said is None)
    expected = {
        outcome: (of(outcome)[0], close(of(outcome)[1]), unbegun[outcome], unknown[outcome]) for outcome in LOST
    }
    # The views
    assert {
        row["outcome"]: (row["attempts"], row["seconds"], row["unbegun"], row["unknown"])
        for row in answer(ledger, "lost_time")
    } == {outcome: expected[outcome] for outcome in outcomes}
    for row in answer(ledger, "worker_overview"):
        number, seconds = of_worker(row["worker"])
        assert (row["results"], row["lost"], row["lost_seconds"]) == (
            results[row["worker"]],
            number,
            close(seconds),
        )
    # The overview as `status --json` and the dashboard have it
    document = client.get(f"/campaigns/{NAME}/status").json()
    total = {
        outcome: {"attempts": of(outcome)[0], "seconds": close(of(outcome)[1]), "unknown": unknown[outcome]}
        for outcome in outcomes
    }
    assert document["lost"] == {
        outcome: loss for outcome, loss in total.items() if loss["attempts"] or loss["unknown"]
    }
    shown = {view["id"]: view for view in document["workers"]}
    for worker, view in shown.items():
        number, seconds = of_worker(worker)
        assert view["done"] == results[worker]
        silent = sum(cut.said is None for cut in free if cut.worker == worker)
        assert view["lost"] == {"attempts": number, "seconds": close(seconds), "unknown": silent}
        assert (view["speed"] is None) or view["state"] in ("working", "idle")
    if document["speed"]["now"] is not None:
        assert document["speed"]["now"] == pytest.approx(sum(view["speed"] or 0 for view in shown.values()))
    # The metrics
    samples = scraped(client.get("/metrics").text)
    for outcome in outcomes:
        number, seconds = of(outcome)
        assert samples.get(("langford_lost_attempts_total", outcome), 0) == number
        assert samples.get(("langford_lost_seconds_total", outcome), 0) == close(seconds)
    # The report
    evidence = gathering.of_campaign(campaign)
    found = evidence.numbers
    if found.lost is None:
        assert not results
        assert not cuts
        return
    assert {
        kind.outcome: (kind.attempts, close(kind.seconds), kind.unbegun, kind.unknown) for kind in found.lost
    } == expected
    assert found.done == document["tasks"]["done"]
    assert {
        busy.worker.worker_id: busy.contribution.results for busy in evidence.workers if busy.contribution.results
    } == dict(+results)
    assert found.since_the_start == (
        None if document["speed"]["average"] is None else pytest.approx(document["speed"]["average"])
    )
    require_one_occupation(made, found)
    require_one_throughput(ledger, found)


def require_one_occupation(made: Story, found: CampaignFigures) -> None:
    """Devices were occupied for as long as workers say, and workers while they held a lease or more."""
    if found.devices is None:
        return
    with made.ledger.database.reading() as connection:
        attempts = connection.execute(select(Attempt.__table__)).all()
        took = {}
        for table in (Witness, Result):
            took |= dict(connection.execute(select(table.attempt_id, table.seconds)).all())
    computed, held = 0.0, defaultdict(list)
    last = max(each.ended or made.now for each in attempts)
    for each in attempts:
        ended, seconds = each.ended or made.now, took.get(each.id, made.said.get(each.id, 0.0))
        start = max(each.granted, ended - seconds) if each.began is None else min(each.began, ended)
        computed += min(start + seconds, last) - start
        held[each.worker_id].append((each.granted, ended))
    moments = sorted({moment for spans in held.values() for span in spans for moment in span})
    holding = sum(
        end - start
        for start, end in pairwise(moments)
        for spans in held.values()
        if any(granted <= start < ended for granted, ended in spans)
    )
    width = np.diff(found.devices.edges)
    assert float(found.devices.devices @ width) == pytest.approx(computed, abs=1e-2)
    assert float(found.devices.workers @ width) == pytest.approx(holding, abs=1e-2)


def require_one_throughput(ledger: Ledger, found: CampaignFigures) -> None:
    """The view says for each minute, and the report for each part of the time, how many results arrived."""
    minutes = answer(ledger, "throughput")
    sums = {name: sum(row[name] for row in minutes) for name in ("tasks", "work", "seconds")}
    assert (found.timed, found.timed_seconds) == (sums["tasks"], close(sums["seconds"]))
    assert found.timed_work == pytest.approx(sums["work"])
    assert found.work == pytest.approx(sums["work"])
    if found.throughput is not None:
        width = np.diff(found.throughput.edges)
        assert float(found.throughput.tasks @ width) == pytest.approx(sums["tasks"])
        assert float(found.throughput.work @ width) == pytest.approx(sums["work"])
        assert found.hourly is not None
        assert found.hourly == pytest.approx(sums["tasks"] / float(width.sum()) * 3600)


@contextmanager
def story(kind: str) -> Iterator[tuple[Story, Client]]:
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory() as folder,
        moved_clock() as clock,
        new_ledger(kind, Path(folder)) as ledger,
    ):
        patch.setattr(shared, "FRESH_SECONDS", 0.0)
        patch.setattr(shared, "SHARE", float("inf"))
        clock.stop()
        made = Story(ledger, clock)
        token = made.campaign.operator.new_token(Role.READER)
        client = Client(server.application(ledger, [NAME]), headers={"Authorization": f"Bearer {token}"})
        yield made, client
        client.close()


@pytest.mark.parametrize("kind", ["sqlite", *exhaustive(["postgres"])])
@given(happened=st.lists(happenings, min_size=1, max_size=25))
@settings(max_examples=6, deadline=None)
def test_all_outputs_say_the_same_of_a_history(
    kind: str, happened: list[tuple[str, str, int, float, float]]
) -> None:
    with story(kind) as (made, client):
        for what, worker, number, seconds, passes in happened:
            made.happen(what, worker, number, seconds)
            made.clock.move(passes)
        require_one_answer(made, client)


def test_a_late_a_failed_a_dead_and_a_preempted_one() -> None:
    """One lease expires and its result is accepted late, one attempt fails, one dies, one is preempted.

    Of the preempted worker's tasks one was computed for 7 s, the others waited; of an expired one nothing was said.
    """
    with story("sqlite") as (made, client):
        late, failed, dead, taken, *waiting = made.lease("a", 7)
        silent, *_ = made.lease("b", 1)
        made.clock.move(9.25)
        made.campaign.worker.renew([late], LEASE_SECONDS, computed=made.say([late], 4.0))
        made.campaign.worker.end([failed], Outcome.FAILED, "boom", made.say([failed], 2.0))
        made.campaign.worker.end([dead], Outcome.DIED, "signal 9")
        said = made.say([taken], 7.0) | made.say(waiting, 0.0)
        made.campaign.worker.end([taken, *waiting], Outcome.PREEMPTED, "SIGTERM", said)
        made.happen("expire", "c", 0, 0.0)
        made.deliver(late, began_ago=100.0)
        require_one_answer(made, client)
        overview = made.campaign.reader.overview()
        assert {outcome: (loss.attempts, loss.seconds) for outcome, loss in overview.lost.items()} == {
            "failed": (1, close(2.0)),
            "died": (1, 0.0),
            "preempted": (1, close(7.0)),
            "expired": (0, 0.0),
        }
        assert {row["outcome"]: (row["unbegun"], row["unknown"]) for row in answer(made.ledger, "lost_time")} == {
            "failed": (0, 0),
            "died": (0, 0),
            "preempted": (3, 0),
            "expired": (0, 1),
        }
        assert silent.attempt not in made.said
        [view] = [each for each in overview.workers if each.host == "host-a"]
        assert (view.done, view.lost.attempts) == (1, 3)


def test_no_worker_computes_longer_than_it_holds_a_task() -> None:
    """Nor is anything forgotten: messages may overtake each other."""
    with story("sqlite") as (made, client):
        lease, *_ = made.lease("a", 1)
        for passes, says in ((10.0, 4.0), (10.0, 1e9), (10.0, 3.0)):
            made.clock.move(passes)
            made.campaign.worker.renew([lease], LEASE_SECONDS, computed=made.say([lease], says))
        made.campaign.worker.end([lease], Outcome.PREEMPTED)
        require_one_answer(made, client)
        assert made.campaign.reader.overview().lost["preempted"].seconds == close(20.0)
