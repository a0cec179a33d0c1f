"""Counting with a real mpirun: static and dynamic, and what happens when ranks die."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import sqlite3
import subprocess
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from db import Campaign, Ledger
from jobs.mpi.static import share
from jobs.reach.identity import Identity
from langford.cli.cluster.ranks import READ_SECONDS, abort
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from tests.farm.farm import HURRY, slowed
from tests.support.cases import exhaustive
from tests.support.clock import MovableClock
from tests.support.command_line import COMMAND, ENVIRONMENT, Mpirun, Run, planted

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

CAMPAIGN = "langford-12-godfrey-10"
LONG = ("langford", "12", "--method", "godfrey", "--depth", "10")
COUNT = "108,144"


@pytest.fixture
def resting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The ranks rest at each task: long enough to be killed anywhere."""
    monkeypatch.setitem(ENVIRONMENT, "PYTHONPATH", slowed(tmp_path, 0.03, word="mpi")["PYTHONPATH"])


def output_of(process: subprocess.Popen[str]) -> str:
    out, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    return out


@pytest.mark.parametrize(
    ("ranks", "arguments", "count"),
    [
        *exhaustive([(3, ["langford", "10", "--depth", "8", "--anyway"], "0")]),  # the sum of tasks that are not
        (2, ["skolem", "9", "--method", "miller", "--depth", "2"], "1328"),
    ],
)
def test_static(mpirun: Mpirun, ranks: int, arguments: list[str], count: str) -> None:
    found = json.loads(output_of(mpirun(ranks, "mpi", "--static", *arguments, "--json")))
    assert (found["count"], found["ranks"]) == (count, ranks)


@given(st.sampled_from([0, 4, 8, 12]), st.integers(1, 9))
def test_every_task_is_one_ranks_share(depth: int, size: int) -> None:
    key = PlanKey(Problem.langford(12), "polyphase", depth)
    shares = [share(plan_of(key), rank, size) for rank in range(size)]
    work = plan_of(key).work
    assert sorted(index for mine in shares for index in mine) == list(range(len(work)))
    loads = [work[mine].sum() for mine in shares]
    assert max(loads) - min(loads) <= 2 * work.max()


def test_dynamic_keeps_a_ledger(mpirun: Mpirun, tmp_path: Path) -> None:
    arguments = ["langford", "12", "--depth", "12", "--json"]
    for _ in range(2):
        assert json.loads(output_of(mpirun(2, "mpi", *arguments)))["count"] == "108144"
    ledger = Ledger(str(tmp_path / "langford.db"))
    progress = ledger.campaign("langford-12-polyphase-12").progress()
    assert progress.attempts == {"done": progress.tasks["done"]}


def test_a_campaign_by_another_method_is_resumed(mpirun: Mpirun, langford: Run) -> None:
    assert langford("create", "langford", "11", "--method", "shifted2", "--depth", "4").returncode == 0
    found = json.loads(output_of(mpirun(2, "mpi", "langford", "11", "--json")))
    assert (found["count"], found["method"], found["depth"]) == ("17792", "shifted2", 4)


def started(tmp_path: Path, mpirun: Mpirun, ranks: int) -> tuple[subprocess.Popen[str], Ledger]:
    """A campaign of seconds, with some of its tasks done."""
    process, file = mpirun(ranks, "mpi", *LONG), tmp_path / "langford.db"
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline:
        # Asked quickly: the whole campaign takes some seconds.
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as ledger:
            if ledger.execute("SELECT count(*) FROM result").fetchone()[0] > 5:
                return process, Ledger(str(file))
        time.sleep(0.02)
    raise AssertionError(process.communicate(timeout=10))


def ranks_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    family = psutil.Process(process.pid).children(recursive=True)
    return [each for each in family if "mpi" in each.cmdline() and "langford" in each.cmdline()]


@pytest.mark.usefixtures("resting")
@pytest.mark.parametrize("which", ["worker", *exhaustive(["server", "launcher"])])
def test_a_killed_rank_loses_nothing_that_was_committed(
    mpirun: Mpirun, langford: Run, tmp_path: Path, which: str
) -> None:
    process, ledger = started(tmp_path, mpirun, 3)
    ranks = sorted(ranks_of(process), key=lambda each: each.pid)
    assert len(ranks) == 3
    victim = {"worker": ranks[-1].pid, "server": ranks[0].pid, "launcher": process.pid}[which]
    os.kill(victim, signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode != 0
    psutil.wait_procs(ranks, timeout=30)
    before = ledger.campaign(CAMPAIGN).progress().tasks.get("done", 0)
    assert before > 5
    (tmp_path / HURRY).touch()
    assert COUNT in langford("run", *LONG).stdout
    progress = ledger.campaign(CAMPAIGN).progress()
    assert progress.tasks == {"done": len(plan_of(PlanKey(Problem.langford(12), "godfrey", 10)).work)}
    assert progress.conflicts == progress.confirmed == 0


LOSING = """
from langford.devices import Device
from langford.methods.godfrey.cpu import GodfreyOnCpu

evaluate = GodfreyOnCpu.evaluate

def losing(self, index):
    if index == 30:
        Device.is_lost = property(lambda device: True)
        raise RuntimeError("an illegal access")
    return evaluate(self, index)

GodfreyOnCpu.evaluate = losing
"""
"""The device is lost at task 30."""
LATE = """
import time
from jobs.mpi.rank_pool import RankPool, serve
from jobs.mpi.world import world
from langford.devices import CPU
from langford.methods import PlanKey
from langford.problem import Problem

ranks = world()
if ranks.rank:
    serve(ranks, PlanKey(Problem.langford(12), "godfrey", 10), CPU)
else:
    pool = RankPool(ranks)
    pool.submit(0, 30)
    pool.submit(1, 31)
    time.sleep(3)
    print([(type(news).__name__, news.tokens, news.evaluated) for news in pool.poll(60)])
    pool.stop()
"""
"""Rank 0 asks for news when the other one has had the time for both of its tasks."""


def test_a_rank_that_has_lost_its_device_evaluates_nothing_more(python_on_ranks: Mpirun) -> None:
    assert output_of(python_on_ranks(2, "-c", LOSING + LATE)) == "[('Died', (0, 1), 0)]\n"


FULL = """
from langford.devices import Cpu


def full(device, maker, plan):
    raise MemoryError("3 GB")


Cpu.evaluator = full
"""
"""The device has no memory for the kernels."""


def test_a_rank_whose_device_refuses_the_kernels_blames_no_task(python_on_ranks: Mpirun) -> None:
    output = output_of(
        python_on_ranks(2, "-c", FULL + LATE.replace("news.evaluated)", "news.evaluated, news.reason)"))
    )
    assert "('Died', (0, 1), None, 'rank 1: cpu cannot load the kernels of godfrey (MemoryError: 3 GB): " in output


class SlowLauncher(MovableClock):
    """Reads the output of a rank after it was given some time, and notes what it has not read at the abort."""

    def __init__(self, output: int, after_seconds: float) -> None:
        super().__init__()
        self.output, self.reads_at = output, self.monotonic() + after_seconds
        self.unread: list[bool] = []

    def wait(self, seconds: float, event: threading.Event | None = None) -> bool:
        self.move(seconds)
        if self.monotonic() >= self.reads_at:
            os.read(self.output, 100)
        return False

    def Abort(self, code: int) -> None:  # noqa: N802
        self.unread.append(bool(select.select([self.output], [], [], 0)[0]))


@pytest.mark.parametrize(("after_seconds", "unread"), [(READ_SECONDS / 2, False), (2 * READ_SECONDS, True)])
def test_a_rank_aborts_when_its_output_was_read_or_will_not_be(after_seconds: float, unread: bool) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing, "w") as errors:
        print("langford: rank 0: the last words", file=errors, flush=True)
        launcher = SlowLauncher(reading, after_seconds)
        with pytest.raises(SystemExit) as ended:
            abort(cast("Intracomm", launcher), 3, [writing], launcher)
    assert ended.value.code == 3
    assert launcher.unread == [unread]


def test_a_rank_aborts_when_it_is_interrupted_while_it_waits() -> None:
    class Interrupted(SlowLauncher):
        def wait(self, seconds: float, event: threading.Event | None = None) -> bool:
            raise KeyboardInterrupt

    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing, "w") as errors:
        print("langford: rank 0: stopped by SIGINT", file=errors, flush=True)
        launcher = Interrupted(reading, READ_SECONDS)
        with pytest.raises(KeyboardInterrupt):
            abort(cast("Intracomm", launcher), 3, [writing], launcher)
    assert launcher.unread == [True]


def test_a_lost_device_ends_the_program_and_a_task_that_lost_three_is_set_aside(
    mpirun: Mpirun, langford: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losing = planted(tmp_path / "planted", LOSING)
    with monkeypatch.context() as variables:
        variables.setitem(ENVIRONMENT, "PYTHONPATH", losing["PYTHONPATH"])
        for deaths in (1, 3):
            process = mpirun(2, "mpi", *LONG)
            _, errors = process.communicate(timeout=100)
            assert process.returncode == 1, errors
            ledger = Ledger(str(tmp_path / "langford.db"))
            campaign = ledger.campaign(CAMPAIGN)
            assert campaign.progress().attempts.get("died") == deaths, errors
            found = re.search(r"rank \d: cpu is lost to this process \(RuntimeError: an illegal access\)", errors)
            assert found, errors
            assert ("run the same command again" in errors) == (deaths < 3)
            if deaths == 1:
                die_elsewhere(ledger, campaign)
    progress = campaign.progress()
    assert progress.tasks == {"done": campaign.tasks - 1, "set-aside": 1}
    assert progress.attempts["done"] == campaign.tasks - 1
    assert campaign.reopen() == 1
    assert COUNT in langford("run", *LONG).stdout


def die_elsewhere(ledger: Ledger, campaign: Campaign) -> None:
    """A worker of another machine loses its device at that task."""
    other = Identity.fresh()
    ledger.enrol(other.worker_id, "elsewhere", other.process)
    leases = campaign.lease(other.worker_id, campaign.tasks, 600)
    [fatal] = [lease for lease in leases if lease.index == 30]
    campaign.die(fatal, "its device is lost")
    campaign.release([lease for lease in leases if lease is not fatal])


@pytest.mark.usefixtures("resting")
def test_sigterm_gives_the_leases_back(mpirun: Mpirun, langford: Run, tmp_path: Path) -> None:
    process, ledger = started(tmp_path, mpirun, 2)
    for rank in ranks_of(process):
        rank.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode != 0
    progress = ledger.campaign(CAMPAIGN).progress()
    assert progress.tasks["done"] > 5
    assert "leased" not in progress.tasks
    assert "running" not in progress.attempts
    (tmp_path / HURRY).touch()
    assert COUNT in langford("run", *LONG).stdout


def test_srun_with_the_wrong_mpi_is_noticed(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="needs mpi4py")
    done = subprocess.run(
        [*COMMAND, "mpi", "langford", "9"],
        env={**ENVIRONMENT, "SLURM_NTASKS": "4"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "srun --mpi=pmi2" in done.stderr


def test_one_rank_cannot_hand_out(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="needs mpi4py")
    done = subprocess.run(
        [*COMMAND, "mpi", "langford", "9"],
        env=ENVIRONMENT,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "two or more ranks" in done.stderr


def test_bad_input_is_said_once(mpirun: Mpirun) -> None:
    process = mpirun(2, "mpi", "langford", "15", "--depth", "7")
    _, errors = process.communicate(timeout=100)
    assert process.returncode == 2
    assert errors.count("even depths") == 1


def test_where_none_can_exist_one_rank_answers_at_once(mpirun: Mpirun, tmp_path: Path) -> None:
    process = mpirun(2, "mpi", "langford", "33")
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert output.count("L(2,33) = 0") == 1
    assert not list(tmp_path.glob("*.db"))
