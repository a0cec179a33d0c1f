"""One history, one answer: what all outputs say was done, begun, lost and taken away, and who was busy.

On random histories.  The reference is computed here, from the rows of the tables, by the definitions of
:mod:`db.schema.measures` and :mod:`db.look.figures`.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
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
from db.look import questions
from db.look.figures.campaign import CampaignFigures
from db.look.overview import shared
from db.look.questions import QUESTIONS, Filters
from db.schema.models import Attempt, Result, Witness, Worker
from db.states import COMPLAINTS, LOST, Outcome, Role
from jobs.farm.api import server
from jobs.show.report import gathering
from langford.result import Evaluation
from tests.support.asgi import Client
from tests.support.campaigns import NAME, TRUE, new_campaign
from tests.support.cases import exhaustive
from tests.support.database_clock import DatabaseClock, moved_clock
from tests.support.databases import new_ledger

DEVICES: dict[str, int | None] = {"a": 1, "b": 2, "c": None}
"""How many devices each worker has; None: it did not say."""
LEASE_SECONDS = 100.0
TAKEN_AWAY = {"preempted", "expired", "released"}


class Story:
    """A campaign to which things happen while the clock stands; it is moved between them."""

    def __init__(self, ledger: Ledger, clock: DatabaseClock, processes: dict[str, int | None]) -> None:
        self.ledger, self.clock = ledger, clock
        self.campaign: Campaign = new_campaign(ledger, "")
        for worker, devices in processes.items():
            ledger.enrol(worker, f"host-{worker}", "1", processes=devices)
        self.held: list[Lease] = []
        self.workers: dict[int, str] = {}

    @property
    def now(self) -> float:
        assert self.clock.stopped is not None
        return self.clock.stopped + self.clock.ahead

    def lease(self, worker: str, count: int) -> list[Lease]:
        leases = self.campaign.lease(worker, count, LEASE_SECONDS)
        self.held += leases
        self.workers |= {lease.attempt: worker for lease in leases}
        return leases

    def deliver(self, lease: Lease, seconds: float = 0.5, began_ago: float | None = None) -> None:
        """Also late, after the attempt has ended."""
        began = None if began_ago is None else self.now - began_ago
        self.campaign.deliver([Delivery.of(lease, Evaluation(TRUE[lease.index], seconds, "{}", began))])

    def lease_of(self, number: int) -> Lease | None:
        return self.held[number % len(self.held)] if self.held else None

    def happen(self, what: str, worker: str, number: int, seconds: float) -> None:
        lease = self.lease_of(number)
        if what == "lease":
            self.lease(worker, 1 + number % 4)
        elif what == "preempt":
            mine = [each for each in self.held if self.workers[each.attempt] == worker]
            self.campaign.release(mine, Outcome.PREEMPTED, "SIGTERM")
        elif what == "expire":
            self.clock.move(LEASE_SECONDS + 1)
            self.campaign.lease(worker, 0, LEASE_SECONDS)
        elif lease is None:
            return
        elif what == "deliver":
            self.deliver(lease, seconds, began_ago=seconds)
        elif what == "deliver without a beginning":
            self.deliver(lease, seconds)
        elif what == "step":
            self.campaign.renew([lease], LEASE_SECONDS, {lease.attempt: 7})
        elif what == "fail":
            self.campaign.fail(lease, "boom")
        elif what == "die":
            self.campaign.die(lease, "signal 9")
        elif what == "release":
            self.campaign.release([lease])


HAPPENINGS = ["lease", "lease", "deliver", "deliver", "deliver without a beginning", "step", "preempt", "expire"]
HAPPENINGS += ["fail", "die", "release"]
happenings = st.tuples(
    st.sampled_from(HAPPENINGS),
    st.sampled_from(sorted(DEVICES)),
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
    begun: bool
    seconds: float

    @property
    def is_lost(self) -> bool:
        return self.begun and not self.late


def reference(ledger: Ledger) -> tuple[list[Cut], Counter[str]]:
    """(what was cut short, results of each worker), by the definitions."""
    with ledger.database.reading() as connection:
        attempts = connection.execute(select(Attempt.__table__).order_by(Attempt.id)).all()
        brought = {*connection.scalars(select(Result.attempt_id)), *connection.scalars(select(Witness.attempt_id))}
        devices = dict(connection.execute(select(Worker.id, Worker.processes)).all())
    delivered = [each for each in attempts if each.outcome in (Outcome.DONE, Outcome.SUPERSEDED)]
    results = Counter(each.worker_id for each in delivered)
    batches: dict[tuple[str, int], list[Any]] = defaultdict(list)
    for each in attempts:
        if each.outcome in LOST:
            batches[each.worker_id, int(each.ended)].append(each)

    def is_known(each: Any) -> bool:
        told = each.began is not None or each.steps is not None
        return told or each.outcome in COMPLAINTS or each.id in brought

    found = []
    for (worker, _), batch in batches.items():
        batch.sort(key=lambda each: (not is_known(each), each.id))
        mine = [each for each in delivered if each.worker_id == worker]
        for place, each in enumerate(batch, start=1):
            later = [other.began for other in mine if other.ended > each.ended and other.began is not None]
            used = place + sum(began <= each.ended for began in later)
            fits = devices[worker] is not None and used <= devices[worker]
            before = sorted((other.ended for other in mine if other.ended <= each.ended), reverse=True)
            free = before[used - 1] if fits and len(before) >= used else each.granted
            started = max(each.granted, free) if each.began is None else each.began
            begun = is_known(each) or devices[worker] is None or fits
            found.append(Cut(worker, each.outcome, each.id in brought, begun, each.ended - started))
            results[worker] += each.id in brought
    return found, results


def answer(ledger: Ledger, question: str) -> list[dict[str, Any]]:
    with questions.ask(ledger.database, QUESTIONS[question], Filters(campaign=NAME)) as rows:
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


def require_one_answer(ledger: Ledger, campaign: Campaign, client: Client) -> None:
    cuts, results = reference(ledger)
    lost = [cut for cut in cuts if cut.is_lost]
    outcomes = sorted({cut.outcome for cut in cuts if not cut.late})

    def of(outcome: str) -> tuple[int, float]:
        """(number, seconds) of the lost attempts that ended so."""
        seconds = [cut.seconds for cut in lost if cut.outcome == outcome]
        return len(seconds), sum(seconds)

    def of_worker(worker: str, *among: str) -> tuple[int, float]:
        mine = [cut for cut in lost if cut.worker == worker and (not among or cut.outcome in among)]
        return len(mine), sum(cut.seconds for cut in mine)

    unbegun = Counter(cut.outcome for cut in cuts if not cut.late and not cut.begun)
    # The views
    assert {
        row["outcome"]: (row["attempts"], row["seconds"], row["unbegun"]) for row in answer(ledger, "lost_time")
    } == {outcome: (of(outcome)[0], close(of(outcome)[1]), unbegun[outcome]) for outcome in outcomes}
    for row in answer(ledger, "worker_overview"):
        number, seconds = of_worker(row["worker"])
        assert (row["results"], row["lost"], row["lost_seconds"]) == (
            results[row["worker"]],
            number,
            close(seconds),
        )
    # The overview as `status --json` and the dashboard have it
    document = client.get(f"/campaigns/{NAME}/status").json()
    total = {outcome: {"attempts": of(outcome)[0], "seconds": close(of(outcome)[1])} for outcome in outcomes}
    assert document["lost"] == {outcome: loss for outcome, loss in total.items() if loss["attempts"]}
    shown = {view["id"]: view for view in document["workers"]}
    for worker, view in shown.items():
        number, seconds = of_worker(worker)
        taken, taken_seconds = of_worker(worker, *TAKEN_AWAY)
        assert view["done"] == results[worker]
        assert view["lost"] == {"attempts": number, "seconds": close(seconds)}
        assert view["preempted"] == {"count": taken, "seconds_lost": close(taken_seconds)}
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
    assert {kind.outcome: (kind.attempts, close(kind.seconds), kind.unbegun) for kind in found.lost} == {
        outcome: (of(outcome)[0], close(of(outcome)[1]), unbegun[outcome]) for outcome in LOST
    }
    assert found.done == document["tasks"]["done"]
    assert {
        busy.worker.worker_id: busy.contribution.results for busy in evidence.workers if busy.contribution.results
    } == dict(+results)
    assert found.since_the_start == (
        None if document["speed"]["average"] is None else pytest.approx(document["speed"]["average"])
    )


def leases_of(ledger: Ledger, now: float) -> dict[str, list[tuple[float, float]]]:
    """When each worker held a lease: (granted, ended or now)."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with ledger.database.reading() as connection:
        for worker, granted, ended in connection.execute(
            select(Attempt.worker_id, Attempt.granted, Attempt.ended)
        ).all():
            found[worker].append((granted, now if ended is None else ended))
    return found


def require_one_occupation(
    ledger: Ledger, campaign: Campaign, document: dict[str, Any], found: CampaignFigures
) -> None:
    """The overview says at some moments, and the report in the mean, how many workers held leases."""
    now = campaign.overview().now
    leases = leases_of(ledger, now)

    def holding(at: float) -> int:
        return sum(any(start <= at < end for start, end in held) for held in leases.values())

    ends = sorted(end for held in leases.values() for span in held for end in span)
    for text, number in document["timeline"]:
        at = datetime.fromisoformat(text).timestamp()
        # Times in JSON are rounded.
        if not any(abs(at - end) < 2e-3 for end in ends):
            assert number == holding(at)
    if found.devices is not None:
        held = sum(holding((start + end) / 2) * (end - start) for start, end in pairwise(ends))
        width = np.diff(found.devices.edges)
        assert float(found.devices.workers @ width) == pytest.approx(held, abs=1e-2)
        computed = float(found.devices.devices @ width)
        assert found.most_devices is not None
        assert computed <= found.most_devices * float(width.sum()) + 1e-2


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
def story(kind: str, processes: dict[str, int | None]) -> Iterator[tuple[Story, Client]]:
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory() as folder,
        moved_clock() as clock,
        new_ledger(kind, Path(folder)) as ledger,
    ):
        patch.setattr(shared, "FRESH_SECONDS", 0.0)
        patch.setattr(shared, "SHARE", float("inf"))
        clock.stop()
        made = Story(ledger, clock, processes)
        token = made.campaign.new_token(Role.READER)
        client = Client(server.application(ledger, [NAME]), headers={"Authorization": f"Bearer {token}"})
        yield made, client
        client.close()


@pytest.mark.parametrize("kind", ["sqlite", *exhaustive(["postgres"])])
@given(happened=st.lists(happenings, min_size=1, max_size=25))
@settings(max_examples=12, deadline=None)
def test_all_outputs_say_the_same_of_a_history(
    kind: str, happened: list[tuple[str, str, int, float, float]]
) -> None:
    with story(kind, DEVICES) as (made, client):
        for what, worker, number, seconds, passes in happened:
            made.happen(what, worker, number, seconds)
            made.clock.move(passes)
        require_one_answer(made.ledger, made.campaign, client)


@pytest.mark.parametrize("kind", ["sqlite", *exhaustive(["postgres"])])
def test_a_late_a_failed_a_dead_and_a_preempted_one(kind: str) -> None:
    """One lease expires and its result is accepted late, one attempt fails, one dies, one is preempted."""
    with story(kind, {"a": None, "b": None}) as (made, client):
        late, failed, dead, taken, *rest = made.lease("a", 9)
        for lease in rest[:3]:
            made.deliver(lease)
        made.clock.move(2.25)
        made.campaign.fail(failed, "boom")
        made.campaign.die(dead, "signal 9")
        made.campaign.release([taken, *rest[3:]], Outcome.PREEMPTED, "SIGTERM")
        made.happen("expire", "b", 0, 0.0)
        made.deliver(late, began_ago=100.0)
        require_one_answer(made.ledger, made.campaign, client)
        view = made.campaign.overview().workers[0]
        assert (view.done, view.lost.attempts, view.preempted.count) == (
            4,
            2 + 1 + len(rest[3:]),
            1 + len(rest[3:]),
        )
        assert {row["outcome"] for row in answer(made.ledger, "lost_time")} == {"failed", "died", "preempted"}


@pytest.mark.parametrize("kind", ["sqlite", *exhaustive(["postgres"])])
def test_a_preempted_worker_lost_what_its_device_computed(kind: str) -> None:
    """It had told when its first task began, but not of the second, which it computed for 7 s; the third waited."""
    with story(kind, {"a": 1}) as (made, client):
        first, *others = made.lease("a", 3)
        made.clock.move(22.0)
        made.deliver(first, 21.0, began_ago=21.5)
        made.clock.move(7.0)
        made.campaign.release(others, Outcome.PREEMPTED, "SIGTERM")
        require_one_answer(made.ledger, made.campaign, client)
        overview = made.campaign.overview()
        assert overview.lost["preempted"].attempts == 1
        assert overview.lost["preempted"].seconds == close(7.0)
        found = gathering.of_campaign(made.campaign).numbers
        assert (found.aborted, found.aborted_seconds) == (1, close(7.0))


@pytest.mark.parametrize("kind", ["sqlite", *exhaustive(["postgres"])])
def test_what_waits_while_the_devices_complete_others_had_not_begun(kind: str) -> None:
    """Near its time limit a worker gives back what waits, and completes what it computes."""
    with story(kind, {"a": 2}) as (made, client):
        first, second, third, *_ = made.lease("a", 4)
        made.clock.move(30.0)
        made.campaign.release(made.held[3:], note="time limit")
        made.clock.move(10.0)
        made.deliver(first, 39.0, began_ago=39.5)
        made.deliver(second, 39.0, began_ago=39.5)
        made.campaign.fail(third, "boom")
        require_one_answer(made.ledger, made.campaign, client)
        [released, failed] = sorted(answer(made.ledger, "lost_time"), key=lambda row: -row["unbegun"])
        assert (released["outcome"], released["attempts"], released["unbegun"]) == ("released", 0, 1)
        assert (failed["outcome"], failed["attempts"], failed["seconds"]) == ("failed", 1, close(0.0))
