"""What commands say before they begin a count: how long it takes, what helps, and what is possible instead."""

from __future__ import annotations

import json
import platform
import re
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner, Result

import langford as library
from db import Ledger
from db.errors import LedgerUnusable
from langford.cli.main import cli
from langford.cli.output import display
from langford.cli.output.how_long import Cost, advice
from langford.devices import CPU, Cuda
from langford.errors import BadInput, TooExpensive
from langford.kernels.gpu.runtime import NoGpu
from langford.machine.cores import cores
from langford.methods import METHODS, PlanKey, plan_of
from langford.methods.speed import tabled
from langford.problem import Problem
from langford.words import YEAR_SECONDS, duration, long_duration, several
from tests.support.campaigns import HOUR, NAME, PLAN, TASKS, new_campaign, true_deliveries
from tests.support.forecasts import expect, of_a_core, taking

MINUTES = 50 * 60.0
SHARED = "GPUs make it shorter (--device cuda), and more machines (`langford create`, then `langford serve`)"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_a_run_says_how_long_as_a_count_does(monkeypatch: pytest.MonkeyPatch) -> None:
    of_a_core(monkeypatch, 2 * MINUTES)
    run = call("run", "langford", "24", "--workers", "2", "--time-limit", "0")
    count = call("count", "8", "--workers", "2")
    assert "L(2,24) by shifted2: about 50 min on 2 idle cores\n" in run.stderr
    assert "L(2,8) by polyphase: about 50 min on 2 idle cores" in count.stderr
    for said in (run.stderr, count.stderr):
        assert SHARED in said


def test_a_task_that_outlasts_the_time_limit_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    of_a_core(monkeypatch, MINUTES)
    work = plan_of(PlanKey(Problem.langford(12), "polyphase", 8)).work
    longest = MINUTES * work.max() / work.sum()
    for number in range(2):  # a new campaign, then one that is resumed
        done = call("run", "langford", "12", "--depth", "8", "--workers", "1", "--time-limit", f"{longest / 2:.1f}")
        assert f"no task was started: the next one takes about {duration(longest)}, and" in done.stderr, number
        assert done.exit_code == 3


def test_a_campaign_that_is_resumed_is_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    of_a_core(monkeypatch, 2 * MINUTES)
    said = [call("run", "langford", "8", "--time-limit", "0").stderr for _ in range(2)]
    assert ["about" in each for each in said] == [True, False]


@pytest.mark.exhaustive
def test_a_time_that_no_cluster_has_names_what_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    expect(monkeypatch, lambda problem, method: 6.6e16 * YEAR_SECONDS if problem.n > 16 else 1.0)
    monkeypatch.setattr("langford.cli.output.how_long.MAX_ALTERNATIVE", 16)
    refused = str(call("count", "36", "--workers", "2").exception)
    assert "about 33 quadrillion years on 2 idle cores" in refused
    assert "no cluster can finish it; `langford estimate 36` approximates it now, and L(2,16) takes " in refused
    assert "use a cluster" not in refused
    assert not re.search(r"\d(,\d{3}){2}", refused), "digits that no one can grasp"


def test_gpus_are_measured_where_they_need_more_than_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds_of_one = taking(lambda problem, method: 100.0)["langford.methods.speed:measured"]
    monkeypatch.setattr("langford.methods.speed.measured", seconds_of_one)
    gpus = [Cuda(0), Cuda(1)]

    def seconds(n: int, method: str) -> float:
        return Cost.of_count(Problem.langford(n), METHODS[method], gpus).seconds

    assert [seconds(n, "polyphase") for n in (20, 23, 27, 31)] == pytest.approx([0.0, 0.0, 50.0, 50.0])
    # The time of a search grows faster with n.
    assert [seconds(n, "miller") for n in (16, 20)] == pytest.approx([0.0, 50.0])
    words = advice(Problem.langford(31), 3 * MINUTES, gpus)
    assert words == "more GPUs (`langford create`, then `langford serve`) make it shorter"


def test_ranks_say_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    of_a_core(monkeypatch, 4 * MINUTES)
    for name, value in {"world": Mock(rank=0, size=4), "device_of": CPU, "_count_static": 0}.items():
        monkeypatch.setattr(f"langford.cli.cluster.mpi.{name}", Mock(return_value=value))
    said = call("mpi", "--static", "langford", "12")
    assert "L(2,12) by polyphase: about 50 min on 4 idle cores\n" in said.stderr, said.output


def test_a_long_verification_says_how_long_and_what_is_quicker(monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger("langford.db", create=True) as ledger:
        campaign = new_campaign(ledger)
        [undone, *rest] = campaign.worker.lease("a", TASKS, HOUR)
        campaign.worker.deliver(true_deliveries(rest))
    largest, smallest = rest[0].index, rest[-1].index
    assert PLAN.work[largest] == 2 * PLAN.work[smallest]
    of_a_core(monkeypatch, MINUTES * cores() * PLAN.work.sum() / PLAN.work[largest])
    said = call("verify", NAME, f"{largest},{undone.index}").stderr
    assert f"about 50 min on {several(cores(), 'idle core')}\n" in said
    assert re.search(rf"the smallest task alone takes about 25 min: `langford verify {NAME} \d`", said), said
    assert "about" not in call("verify", NAME, str(undone.index)).stderr


@pytest.mark.parametrize(
    ("command", "first"),
    [
        ("run langford 12 --depth 8", "campaign langford-12-polyphase-8 (would be created): L(2,12) by polyphase"),
        (
            "create langford 12 --depth 8",
            "campaign langford-12-polyphase-8 (would be created): L(2,12) by polyphase",
        ),
        ("table 8", "8 entries from 4 counts"),
    ],
)
def test_a_dry_run_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, first: str
) -> None:
    of_a_core(monkeypatch, MINUTES * cores())
    said = call(*command.split(), "--dry-run")
    lines = said.stdout.splitlines()
    assert lines[0].startswith(first), said.output
    facts = dict(line.split(maxsplit=1) for line in lines[1:])
    assert facts["memory"].startswith("about 1")
    assert facts["where"].startswith(
        f"{several(cores(), 'core')} of {platform.node()}; results in langford.db (would"
    )
    if "table" not in command:
        tasks = len(plan_of(PlanKey(Problem.langford(12), "polyphase", 8)).tasks)
        assert facts["tasks"] == f"{tasks}, about {duration(MINUTES * cores() / tasks)} each"
        assert facts["time"] == f"about 50 min on {several(cores(), 'idle core')}"
    document = json.loads(call(*command.split(), "--dry-run", "--json").stdout)
    assert (document["dry_run"], document["what"]) == (True, lines[0])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("sqlite:///junk", "is not a ledger"),
        ("nowhere/new.db", "the folder nowhere does not exist; create it first"),
        ("sqlite:///nowhere/new.db", "the folder nowhere does not exist"),
        ("strange://host/name", "is not a ledger"),
    ],
)
def test_a_dry_run_fails_where_the_run_would(address: str, reason: str) -> None:
    Path("junk").write_bytes(b"no database at all, but long enough" * 100)
    real, dry = (call("run", "langford", "7", "--ledger", address, *option) for option in ([], ["--dry-run"]))
    assert isinstance(dry.exception, LedgerUnusable), dry.output
    assert reason in str(dry.exception)
    assert str(dry.exception) == str(real.exception)


def test_a_dry_run_of_what_is_begun_counts_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger("langford.db", create=True) as ledger:
        campaign = new_campaign(ledger)
        campaign.worker.deliver(true_deliveries(campaign.worker.lease("a", 2, HOUR)))
        left = 1 - campaign.reader.standing().work["done"] / campaign.work
        of_a_core(monkeypatch, MINUTES * cores() / left)
        for command in (["run", NAME], ["run", "langford", "7", "--name", NAME], ["verify", NAME, "0"]):
            said = json.loads(call(*command, "--dry-run", "--json").stdout)
            verifies = command[0] == "verify"
            assert said["tasks"] == (1 if verifies else TASKS - 2)
            assert verifies or said["seconds"] == pytest.approx(MINUTES)
        assert campaign.reader.standing().tasks["done"] == 2
        assert campaign.reader.history().all_workers == 1


def test_a_table_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {19: 60.0, 20: 120.0, 23: 1e6}
    monkeypatch.setattr(
        "jobs.tables.method_choice.expected_seconds",
        lambda choices, devices: {problem: seconds[problem.n] for problem, _ in choices},
    )
    refused = call("table", "23", "--from", "19")
    assert "choose a smaller problem, or give --yes" in str(refused.exception)
    seconds[23] = 1e15
    refused = call("table", "23", "--from", "19")
    assert "million years" in str(refused.exception)
    assert "choose a smaller problem (--yes starts it regardless)" in str(refused.exception)


@pytest.mark.parametrize(
    ("years", "words"),
    [
        (50, "50 years"),
        (2.4e6, "2 million years"),
        (7e9, "7 billion years"),
        (1e13, "10 trillion years"),
        (3.3e16, "33 quadrillion years"),
        (1e30, "over 1,000 quadrillion years"),
    ],
)
def test_many_years_are_words(years: float, words: str) -> None:
    assert long_duration(years * YEAR_SECONDS) == words


def test_a_new_campaign_with_a_time_limit_has_tasks_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its tasks took 21 s, so that none was started, and it advised the same command, for ever.
    of_a_core(monkeypatch, 4000.0)
    monkeypatch.setattr("langford.cli.campaigns.run.complete", Mock(side_effect=BadInput("not now")))
    depths, longest = {}, {}
    for limit in ("20", "2:00:00", "0"):
        call("run", "langford", "24", "--workers", "1", "--time-limit", limit, "--yes", "--ledger", f"{limit}.db")
        with Ledger(f"{limit}.db", create=False) as ledger:
            [campaign] = ledger.campaigns()
            depths[limit] = campaign.key.depth
            longest[limit] = 4000.0 * campaign.plan.work.max() / campaign.plan.work.sum()
    suggested = METHODS["shifted2"].suggested_depth(Problem.langford(24))
    assert depths["20"] > depths["0"] == depths["2:00:00"] == suggested
    assert longest["20"] <= 5 < longest["0"]


def test_tasks_of_a_created_campaign_take_the_time_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    of_a_core(monkeypatch, 100_000.0)  # of which the plan takes no notice: it is the same on every machine
    problem, method = Problem.langford(28), METHODS["shifted2"]
    said = json.loads(call("create", "28", "--task-time", "2m", "--dry-run", "--json").stdout)
    plan = plan_of(PlanKey(problem, method.name, int(said["what"].rsplit(" depth ")[1])))
    usual = tabled(problem, method, "cpu")
    assert usual is not None
    assert 120 / 32 < usual.expected(problem) * plan.work.max() / plan.work.sum() <= 120
    both = call("create", "28", "--task-time", "2m", "--depth", "4")
    assert "leave --depth out" in both.output


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langford.methods.speed.measured", Mock(side_effect=NoGpu("none here")))


@pytest.mark.usefixtures("no_gpu")
def test_a_campaign_for_gpus_is_forecast_for_a_gpu() -> None:
    # It said "about 10 h 41 min each": the time of a core, of tasks that were made for a GPU.
    command = ("create", "28", "--device", "cuda", "--task-time", "2m", "--dry-run")
    tasks, time, _, where = call(*command).stdout.splitlines()[1:5]
    speed = tabled(Problem.langford(28), METHODS["shifted2"], "cuda")
    assert speed is not None
    number, seconds = int(tasks.split()[1].strip(",")), speed.expected(Problem.langford(28))
    ends = 1 / speed.error, speed.error
    each = " to ".join(duration(seconds * end / number) for end in ends)
    assert tasks == f"  tasks    {number}, {each} each"
    assert time == f"  time     {' to '.join(long_duration(seconds * end) for end in ends)} on 1 idle GPU"
    assert "1 GPU of a worker; results in langford.db" in where
    said = json.loads(call(*command, "--json").stdout)
    assert (said["device"], said["devices"], said["host"]) == ("cuda", 1, None)


def test_a_limit_that_no_task_fits_is_not_advised_again(monkeypatch: pytest.MonkeyPatch) -> None:
    of_a_core(monkeypatch, MINUTES)
    done = call("run", "langford", "12", "--depth", "8", "--workers", "1", "--time-limit", "0.5")
    assert "give a longer --time-limit to resume" in done.stderr
    assert "the same command" not in done.stderr


def test_python_refuses_what_the_command_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    # It computed for quadrillions of years without a word.
    with pytest.raises(TooExpensive, match=r"L\(2,40\) by \w+: about \d+ quadrillion years on .*anyway=True"):
        library.count(40)
    expect(monkeypatch, lambda problem, method: 1e10)
    monkeypatch.setattr("langford.counting.tabled", lambda *_: None)
    with pytest.raises(TooExpensive):
        library.count(8)
    assert library.count(8, anyway=True) == 150


@pytest.mark.parametrize(
    ("seconds", "limit", "asks"),
    [(2 * HOUR, None, True), (2 * HOUR, 600.0, False), (2 * HOUR, 1.5 * HOUR, True), (2 * HOUR, 0.0, False)],
)
def test_what_stops_within_an_hour_starts_without_a_question(
    seconds: float, limit: float | None, asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(display, "confirmed", lambda question: False)
    cost = Cost("a count", seconds, [CPU], lambda: "choose a smaller one")
    if asks:
        with pytest.raises(BadInput, match="choose a smaller one, or give --yes"):
            cost.require_consent(yes=False, limit=limit)
    else:
        cost.require_consent(yes=False, limit=limit)
