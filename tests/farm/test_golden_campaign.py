"""One small campaign with times made by hand: every place that shows its numbers shows those computed here.

L(2,7) in ten tasks: six of 1024 points, four of 512.  A GPU computes 1024 points in 400 s, the two cores of a
processor take 1600 s each.  In seconds from the start, with the grants of the leases in brackets:

    GPU      100 (0) … 500, 500 (0) … 900, 900 (500) … 1300, 1300 (900) … 1700; from 1700 (1300) on 512 points
    core 1   200 (0) … 1800;  from 1800 (200) on 512 points
    core 2   200 (0) … 1800;  from 1800 (200) on 512 points

At 1850 one task of 512 points waits.  The file ``golden/campaign.jsonl.gz`` has the whole campaign: the GPU
computes the last two tasks from 1700 to 2100, the cores theirs from 1800 to 2600.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import select, update

from db import Campaign, read_export
from db.identity import Identity
from db.look.overview.records import Overview
from db.schema.dialects import Now
from db.schema.models import Attempt, Result, Worker
from db.states import Role
from jobs.farm.api import server
from jobs.run.source import TaskSource
from jobs.show.report import gathering
from jobs.show.report.content import document
from jobs.show.report.document import Answers, Grid
from jobs.show.report.gathering import Evidence
from jobs.show.wording import in_a_line
from langford.cli.main import cli
from langford.words import rate
from tests.support.asgi import Client
from tests.support.campaigns import GOLDEN, HOUR, NAME, TRUE, delivery, new_campaign, task_records
from tests.support.clock import MovableClock
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol

FILE = GOLDEN / "campaign.jsonl.gz"
LATE = 1850.0
DONE, ALL = 6 * 1024.0, 8192.0
SECONDS = 4 * 400.0 + 2 * 1600.0
"""Computing time of the six results."""
OF_COMPUTATION, SINCE_THE_START = DONE / SECONDS, DONE / (1800 - 100)
OCCUPANCY = SECONDS / (1800 - 100)


def place(campaign: Campaign, start: float, worker: str, spans: list[tuple[float, float, float | None]]) -> None:
    """A worker leases tasks, the largest first, and delivers those that end.

    Args:
        campaign: of the tasks.
        start: of the campaign, in seconds since 1970.
        worker: its name.
        spans: (grant, beginning, end) of each, from the start; None: it runs.
    """
    for granted, began, ended in spans:
        [lease] = campaign.worker.lease(worker, 1, 24 * HOUR)
        said = Attempt.deadline - Attempt.seconds - (start + began)  # with the lease: it is renewed now
        times: dict[str, Any] = {"granted": start + granted, "computed": said}
        if ended is not None:
            campaign.worker.deliver([delivery(lease, TRUE[lease.index], ended - began)])
            times |= {"began": start + began, "ended": start + ended, "computed": ended - began}
        with campaign.database.writing() as connection:
            connection.execute(update(Attempt).where(Attempt.id == lease.attempt).values(**times))
            if ended is not None:
                mine = Result.attempt_id == lease.attempt
                connection.execute(update(Result).where(mine).values(accepted=start + ended))


GPU = {"cores": 16, "processes": 1, "device_model": "a GPU"}
CORES = {"cores": 2, "processes": 2, "device_model": "a processor"}


class Golden:
    """The campaign as it is 1850 seconds after its start.

    Attributes:
        folder: of its ledger.
        campaign: itself.
        start: in seconds since 1970.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.ledger = folder, new_ledger("sqlite", folder)
        self.campaign = new_campaign(self.ledger, "")
        with self.ledger.database.reading() as connection:
            self.start = float(connection.scalar(select(Now())) or 0.0) - LATE
        for worker, kind, equipment in (("gpu", "cuda", GPU), ("cores", "cpu", CORES)):
            enrol(self.ledger, worker, f"host-{worker}", "1", kind, **equipment)
        with self.ledger.database.writing() as connection:
            connection.execute(update(Worker).values(started=self.start))
        seen: list[tuple[float, float, float | None]] = [
            (0.0, 100.0, 500.0),
            (0.0, 500.0, 900.0),
            (500.0, 900.0, 1300.0),
            (900.0, 1300.0, 1700.0),
        ]
        place(self.campaign, self.start, "gpu", seen)
        place(self.campaign, self.start, "cores", [(0.0, 200.0, 1800.0)] * 2)
        place(self.campaign, self.start, "gpu", [(1300.0, 1700.0, None)])
        place(self.campaign, self.start, "cores", [(200.0, 1800.0, None)] * 2)

    def command(self, *words: str) -> str:
        done = CliRunner().invoke(cli, [*words, "--ledger", str(self.folder / "ledger.db")])
        assert done.exit_code == 0, done
        return done.stdout


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Golden]:
    made = Golden(tmp_path_factory.mktemp("golden"))
    yield made
    made.ledger.close()


def facts(found: Evidence) -> dict[str, str]:
    """What the report says in its first section, and in its table of numbers, by heading."""
    told: dict[str, str] = {}
    for section in document(found).sections:
        for block in section.blocks:
            if isinstance(block, Answers):
                told |= dict(block.rows)
            elif isinstance(block, Grid) and block.head[0] == "":
                told |= {row[0]: row[1] for row in block.rows}
    return told


def require_status(overview: dict[str, Any], now: float, golden: Golden) -> None:
    """The numbers of a status, made at a time."""
    assert (overview["tasks"]["total"], overview["tasks"]["done"], overview["tasks"]["leased"]) == (10, 6, 3)
    work = overview["work"]
    assert (work["done"], work["leased"], work["ready"]) == pytest.approx((0.75, 3 / 16, 1 / 16))
    speed, passed = overview["speed"], now - golden.start
    assert (speed["unit"], speed["average"]) == ("points", pytest.approx(SINCE_THE_START))
    # All six results, since the workers came: too few arrived in any shorter window.
    assert speed["seconds"] == pytest.approx(passed)
    assert speed["now"] == pytest.approx(DONE / passed)
    assert speed["tasks_per_minute_now"] == pytest.approx(6 / passed * 60)
    shares = {worker["host"]: (worker["done"], worker["leased"], worker["speed"]) for worker in overview["workers"]}
    assert shares == {
        "host-gpu": (4, 1, pytest.approx(4096 / passed)),
        "host-cores": (2, 2, pytest.approx(2048 / passed)),
    }
    # The GPU ends at 1900 and takes the task that waits until 2100; of the cores one ends at 2600.
    assert overview["eta"]["seconds"] == pytest.approx(2600 - passed)


def test_the_status_says_so(golden: Golden) -> None:
    now = golden.campaign.reader.overview().now
    [told] = json.loads(golden.command("status", "--json"))
    require_status(told, golden.start + told["speed"]["seconds"], golden)
    assert 0 <= golden.start + told["speed"]["seconds"] - now < 600
    shown = golden.command("status", NAME)
    assert f"{rate(SINCE_THE_START, 'points')} since the start" in shown
    assert "75.0% done, 18.7% leased, 6.2% ready" in shown


def test_the_dashboard_and_the_metrics_say_so(golden: Golden) -> None:
    application = server.application(golden.ledger, [NAME])
    client, token = Client(application), golden.campaign.operator.new_token(Role.READER)
    headers = {"Authorization": f"Bearer {token}"}
    told = client.get(f"/campaigns/{NAME}/status", headers=headers).json()
    text = client.get("/metrics", headers=headers).text
    client.close()
    require_status(told, golden.start + told["speed"]["seconds"], golden)
    samples = {
        (sample.name, sample.labels.get("state")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels.get("campaign") == NAME
    }
    assert samples["langford_work_per_second_average", None] == pytest.approx(SINCE_THE_START)
    assert samples["langford_work_per_second", None] == told["speed"]["now"]
    assert samples["langford_remaining_seconds", None] == told["eta"]["seconds"]
    assert samples["langford_work_ratio", "done"] == 0.75
    assert (samples["langford_tasks", "done"], samples["langford_tasks_in_total", None]) == (6, 10)


def test_the_log_and_a_run_say_so(golden: Golden) -> None:
    overview: Overview = golden.campaign.reader.overview()
    line = in_a_line(overview)
    assert line.startswith("75.0% of the work, 6/10 tasks, ")
    assert "2 workers" in line
    assert f"{rate(DONE / (overview.now - golden.start), 'points')} now" in line
    clock = MovableClock()
    source = TaskSource(golden.campaign.worker, Identity.fresh(), clock=clock)
    assert source.ready
    assert source.seconds_left is None
    clock.move(HOUR)
    source.attend([], {})
    told = source.seconds_left
    clock.move(100.0)
    assert told is not None
    assert source.seconds_left == pytest.approx(told - 100.0)
    assert (source.tally.tasks, source.tally.work, source.tally.tasks_here) == (6, pytest.approx(DONE), 0)


def test_the_report_says_so(golden: Golden) -> None:
    found = gathering.of_campaign(golden.campaign)
    assert found.numbers.of_computation == pytest.approx(OF_COMPUTATION)
    assert found.numbers.since_the_start == pytest.approx(SINCE_THE_START)
    assert found.numbers.elapsed == pytest.approx(1700)
    assert found.numbers.most_devices == 3
    assert found.numbers.devices is not None
    assert found.numbers.devices.devices.max() == pytest.approx(3.0)
    told = facts(found)
    assert told["speed of computation"] == rate(OF_COMPUTATION, "points")
    assert told["speed since the start"] == rate(SINCE_THE_START, "points")
    assert (OCCUPANCY, told["mean occupancy"]) == (
        pytest.approx(2.8235, rel=1e-4),
        "2.82 devices (94.1% of at most 3)",
    )


def test_the_whole_campaign_says_so_wherever_it_is_kept(tmp_path: Path) -> None:
    """As an export, and imported: the GPU computes 2560 points in 2000 s, the cores the rest in 4800 s."""
    of_computation, since_the_start, occupancy = ALL / 6800, ALL / 2500, 6800 / 2500
    told = CliRunner().invoke(cli, ["result", "--from", str(FILE)])
    assert told.exit_code == 0, told
    document = json.loads(CliRunner().invoke(cli, ["result", "--from", str(FILE), "--json"]).stdout)
    assert f" {ALL:,.0f} points in 1 h 53 min of computation: {rate(of_computation, 'points')}\n" in told.stdout
    assert (document["work"], document["unit"], document["seconds"]) == (ALL, "points", 6800.0)
    assert document["work_per_second"] == pytest.approx(of_computation)
    assert (document["count"], document["arrangements"]) == ("26", "52")
    export = read_export(FILE)
    with new_ledger("sqlite", tmp_path) as ledger:
        campaign, _ = ledger.take(export, new_campaign(ledger, "").plan, "importer", "host", "1")
        overview = campaign.reader.overview()
        reports = [gathering.of_files([FILE]), gathering.of_campaign(campaign)]
    assert (overview.speed.average, overview.work.done, overview.count) == (pytest.approx(since_the_start), 1.0, 26)
    for found in reports:
        assert found.numbers.of_computation == pytest.approx(of_computation)
        assert found.numbers.since_the_start == pytest.approx(since_the_start)
        assert (found.numbers.occupancy, found.numbers.most_devices) == (pytest.approx(occupancy), 3)


def test_results_without_times_are_no_part_of_the_speed_since_the_start(golden: Golden, tmp_path: Path) -> None:
    """Four tasks come from a file of an earlier version, which does not say when they were computed."""
    export = read_export(FILE)
    with new_ledger("sqlite", tmp_path) as ledger:
        campaign = new_campaign(ledger, "")
        start = golden.start
        enrol(ledger, "gpu", "host-gpu", "1", "cuda", **GPU)
        place(campaign, start, "gpu", [(0.0, 100.0, 500.0), (0.0, 500.0, 900.0)])
        mine = {record.index for record in task_records(campaign, "done")}
        few = [one for one in export.results if one.result.index not in mine][:4]
        ledger.take(
            type(export)(NAME, export.key, export.tasks, tuple(few)), campaign.plan, "importer", "host", "1"
        )
        overview = campaign.reader.overview()
        found = gathering.of_campaign(campaign)
    assert (overview.tasks.done, overview.speed.average) == (6, pytest.approx(2048 / 800))
    assert found.numbers.since_the_start == pytest.approx(2048 / 800)
