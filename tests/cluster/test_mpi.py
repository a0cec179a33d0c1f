"""Counting with a real mpirun: static and dynamic, and what happens when ranks die."""

from __future__ import annotations

import json
import os
import select
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import Mock

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from db import Ledger
from jobs.mpi.static import share
from langford.cli.cluster.ranks import READ_SECONDS, abort
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from tests.support.brute_force import arrangements
from tests.support.clock import MovableClock
from tests.support.command_line import ENVIRONMENT, Mpirun, Run
from tests.support.farm import HURRY, slowed

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

CAMPAIGN = "langford-12-godfrey-8"
LONG = ("langford", "12", "--method", "godfrey", "--depth", "8")
COUNT = "108,144"


@pytest.fixture
def resting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The ranks rest at each task: long enough to be killed anywhere."""
    monkeypatch.setitem(ENVIRONMENT, "PYTHONPATH", slowed(tmp_path, 0.1, word="mpi")["PYTHONPATH"])


def output_of(process: subprocess.Popen[str]) -> str:
    out, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    return out


@pytest.mark.exhaustive
def test_static_ranks_count_a_member_of_a_family(mpirun: Mpirun) -> None:
    problem = Problem.parse("hooked-near-skolem-8-missing-4")
    several_tasks = ("--method", "miller", "--depth", "1")
    found = json.loads(output_of(mpirun(2, "mpi", "--static", *problem.arguments, *several_tasks, "--json")))
    assert found["tasks"] > found["ranks"] == 2
    assert int(found["count"]) == problem.published(arrangements(problem))


@given(st.sampled_from([0, 4, 8, 12]), st.integers(1, 9))
def test_every_task_is_one_ranks_share(depth: int, size: int) -> None:
    key = PlanKey(Problem.langford(12), "polyphase", depth)
    shares = [share(plan_of(key), rank, size) for rank in range(size)]
    work = plan_of(key).work
    assert sorted(index for mine in shares for index in mine) == list(range(len(work)))
    loads = [work[mine].sum() for mine in shares]
    assert max(loads) - min(loads) <= 2 * work.max()


def started(tmp_path: Path, mpirun: Mpirun, ranks: int) -> tuple[subprocess.Popen[str], Ledger]:
    """A campaign of seconds, with some of its tasks done."""
    process, file = mpirun(ranks, "mpi", *LONG), tmp_path / "langford.db"
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline:
        done = 0
        # Asked quickly: the whole campaign takes some seconds.  Closed before the ledger is opened, which reads the
        # file by itself, and so drops the locks of this process that the ledger does not know of.
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as ledger:
            done = ledger.execute("SELECT count(*) FROM result").fetchone()[0]
        if done > 5:
            return process, Ledger(str(file))
        time.sleep(0.02)
    raise AssertionError(process.communicate(timeout=10))


def ranks_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    family = psutil.Process(process.pid).children(recursive=True)
    return [each for each in family if "mpi" in each.cmdline() and "langford" in each.cmdline()]


@pytest.mark.usefixtures("resting")
@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_ranks_that_end_lose_nothing_that_was_committed(
    mpirun: Mpirun, langford: Run, tmp_path: Path, number: signal.Signals
) -> None:
    """One rank is killed, or all are told to end, and give their leases back."""
    process, ledger = started(tmp_path, mpirun, 2)
    ranks = sorted(ranks_of(process), key=lambda each: each.pid)
    assert len(ranks) == 2
    for rank in ranks[1:] if number is signal.SIGKILL else ranks:
        rank.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode != 0
    psutil.wait_procs(ranks, timeout=30)
    campaign = ledger.campaign(CAMPAIGN)
    tasks = campaign.reader.standing().tasks
    assert tasks["done"] > 5
    assert number is signal.SIGKILL or not {"leased", "running"} & {*tasks, *campaign.reader.overview().attempts}
    (tmp_path / HURRY).touch()
    if number is signal.SIGKILL:  # the ledger knows its method and its depth
        found = json.loads(output_of(mpirun(2, "mpi", "langford", "12", "--json")))
        assert (found["count"], found["method"], found["depth"]) == ("108144", "godfrey", 8)
    else:
        assert COUNT in langford("run", *LONG).stdout
    reader = campaign.reader
    assert reader.standing().tasks == {"done": campaign.tasks}
    assert reader.overview().checked.conflicts == reader.overview().checked.confirmed == 0


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
LATE = '''
from jobs.mpi.rank_pool import RankPool, serve
from jobs.mpi.world import world
from jobs.pools.evaluation import DeviceLost
from langford.devices import CPU, Cpu
from langford.methods import PlanKey
from langford.problem import Problem

def full(device, maker, plan):
    raise MemoryError("3 GB")

class Patient:
    """A message is sent when it has been received."""

    def __getattr__(self, name):
        return getattr(ranks, "ssend" if name == "send" else name)

ranks = world()
for depth in (10, 8):
    if ranks.rank:
        serve(ranks, PlanKey(Problem.langford(12), "godfrey", depth), CPU)
    else:
        pool = RankPool(Patient())
        for token in range(3):
            pool.submit(token, 30 + token)
        print([(type(news).__name__, news.tokens, news.evaluated, news.reason) for news in pool.poll(60)])
        try:
            list(pool.poll(0))
        except DeviceLost as error:
            print(error)
        pool.stop()
    Cpu.evaluator = full  # from now on the device has no memory for the kernels
'''
"""Rank 0 asks for news when the other one has had two of its three tasks."""


@pytest.mark.exhaustive
def test_a_rank_that_has_lost_its_device_evaluates_nothing_more(python_on_ranks: Mpirun) -> None:
    lost, again, refused, _ = output_of(python_on_ranks(2, "-c", LOSING + LATE)).splitlines()
    reason = "rank 1: cpu is lost to this process (RuntimeError: an illegal access)"
    assert lost.startswith(f"[('Died', (0, 1, 2), 0, '{reason}")
    assert again.endswith("; run the same command again to resume")
    assert refused.startswith(
        "[('Died', (0, 1, 2), None, 'rank 1: cpu cannot load the kernels of godfrey (MemoryError: 3 GB): "
    )


class Launcher(MovableClock):
    """Reads the output of a rank after it was given some time, and notes what it has not read at the abort.

    It interrupts the rank at the first look instead, where it never reads.
    """

    def __init__(self, output: int, after_seconds: float | None) -> None:
        super().__init__()
        self.output, self.after_seconds, self.start = output, after_seconds, self.monotonic()
        self.unread: list[bool] = []

    def wait(self, seconds: float, event: threading.Event | None = None) -> bool:
        self.move(seconds)
        if self.after_seconds is None:
            raise KeyboardInterrupt
        if self.monotonic() - self.start >= self.after_seconds:
            os.read(self.output, 100)
        return False

    def Abort(self, code: int) -> None:  # noqa: N802
        self.unread.append(bool(select.select([self.output], [], [], 0)[0]))


@pytest.mark.parametrize(
    ("after_seconds", "unread"), [(READ_SECONDS / 2, False), (2 * READ_SECONDS, True), (None, True)]
)
def test_a_rank_aborts_when_its_output_was_read_or_will_not_be(after_seconds: float | None, unread: bool) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing, "w") as errors:
        print("langford: rank 0: the last words", file=errors, flush=True)
        launcher = Launcher(reading, after_seconds)
        with pytest.raises(KeyboardInterrupt if after_seconds is None else SystemExit) as ended:
            abort(cast("Intracomm", launcher), 3, [writing], launcher)
    assert getattr(ended.value, "code", 3) == 3
    assert launcher.unread == [unread]


@pytest.fixture
def rank(langford: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Call the command on one rank, without an MPI library."""

    def call(rank: int, size: int, *words: str, library: str = "", **variables: str) -> Any:
        communicator = SimpleNamespace(rank=rank, size=size)
        monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace(MPI=SimpleNamespace(COMM_WORLD=communicator)))
        monkeypatch.setattr("jobs.mpi.world.subprocess.run", Mock(return_value=Mock(stdout=library)))
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return langford("mpi", "langford", *words)

    return call


@pytest.mark.parametrize(
    ("library", "variables", "says"),
    [
        ("", {"SLURM_NTASKS": "4"}, "srun --mpi=pmi2"),
        # As by Open MPI's mpirun, under which MPICH aborts before it can be asked.
        ("MPICH Version: 4.2", {"PMIX_RANK": "0"}, "its MPI library is MPICH without PMIx"),
        ("Open MPI v5", {"PMIX_RANK": "0"}, "two or more ranks"),
    ],
)
def test_one_rank_cannot_hand_out(
    rank: Callable[..., Any], library: str, variables: dict[str, str], says: str
) -> None:
    """Nor do four that do not know one another, as srun starts them with the wrong MPI."""
    done = rank(0, 1, "9", library=library, **variables)
    assert (done.returncode, says in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("problem", "code", "said"), [("15 --depth 7", 2, "even depths"), ("33", 0, "L(2,33) = 0")]
)
def test_one_rank_says_what_all_know(
    rank: Callable[..., Any], tmp_path: Path, problem: str, code: int, said: str
) -> None:
    first, second = (rank(number, 2, *problem.split()) for number in range(2))
    assert (first.returncode, second.returncode) == (code, code)
    assert said in first.stdout + first.stderr
    assert second.stdout + second.stderr == ""
    assert not list(tmp_path.glob("*.db"))


def test_an_error_of_the_system_is_one_line(mpirun: Mpirun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENVIRONMENT, "LANGFORD_OUTBOX", 300 * "x")
    _, errors = mpirun(2, "mpi", "langford", "8", "--depth", "4").communicate(timeout=100)
    assert "File name too long" in errors
    assert "Traceback" not in errors
