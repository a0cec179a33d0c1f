"""Runs that are stopped, killed, starved of workers or doubled: exact in the end, every time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from db import Ledger
from jobs.run.limits import KnownSpeed
from langford.methods.godfrey.cpu import GodfreyOnCpu
from langford.result import PartialResult
from tests.support.command_line import COMMAND, ENVIRONMENT, Run, planted, write_program
from tests.support.enrolling import enrol
from tests.support.farm import COMPUTING, start
from tests.support.preloaded import Preparation, preloaded
from tests.system.resting import (
    ANSWER,
    CAMPAIGN,
    TASKS,
    children,
    hurry,
    started,
    tasks_done,
    wait_for_results,
    workers_of,
)


def kill_three(folder: Path, process: subprocess.Popen[str], members: Callable[[int], list[int]]) -> None:
    """Kill three processes of a run, each after results that are new, and after its forerunner has a successor."""
    killed: set[int] = set()
    done = 0
    while len(killed) < 3:
        done = wait_for_results(folder, process, done + 1)
        deadline = time.monotonic() + 60
        while not (living := [member for member in members(process.pid) if member not in killed]):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(living[0], signal.SIGKILL)
        killed.add(living[0])


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_signals_release_the_leases_and_keep_the_results(langford: Run, tmp_path: Path, name: str) -> None:
    number = signal.Signals[name]
    with started(CAMPAIGN, tmp_path) as process:
        wait_for_results(tmp_path, process, 10)  # it holds more leases than it computes
        process.send_signal(number)
        _, errors = process.communicate(timeout=100)
    assert process.returncode == 128 + number
    assert f"stopped by {name}" in errors
    assert "run the same command again" in errors
    [status] = json.loads(langford("status", "--json").stdout)
    kept = status["tasks"]["done"]
    assert kept > 0
    assert status["tasks"]["leased"] == 0
    assert "running" not in status["attempts"]
    assert ("preempted" in status["attempts"]) == (name == "SIGTERM")
    again = langford(*CAMPAIGN)
    assert again.stdout.startswith(ANSWER), again.stderr
    [status] = json.loads(langford("status", "--json").stdout)
    assert status["attempts"]["done"] == status["tasks"]["done"] == TASKS


def rest_in_a_task() -> None:
    """Have this process say that it has begun a task of Godfrey's sum, and rest in it."""

    def evaluate(self: GodfreyOnCpu, index: int) -> PartialResult:
        Path("begun").touch()
        time.sleep(600)
        raise AssertionError

    GodfreyOnCpu.evaluate = evaluate  # type: ignore[method-assign]


@pytest.mark.parametrize(
    "words",
    ["count 12 --method godfrey", "verify langford-12-godfrey-4 0", "tune godfrey 12"],
)
def test_who_waits_for_a_long_task_may_stop_at_once(langford: Run, tmp_path: Path, words: str) -> None:
    """A kernel hears no signal: its thread ends with the process."""
    langford("run", "langford", "12", "--method", "godfrey", "--depth", "4")
    prepare: Preparation = (f"{__name__}:{rest_in_a_task.__name__}", {})
    with preloaded().start(
        words.split(), tmp_path, ENVIRONMENT, stderr=subprocess.PIPE, prepare=prepare
    ) as process:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=100)
    assert process.returncode == 128 + signal.SIGINT
    assert errors is not None
    assert errors.strip() == "langford: stopped by SIGINT"


@pytest.mark.exhaustive
def test_sigkill_at_random_moments(langford: Run, tmp_path: Path) -> None:
    random = Random(7)
    kept = 0
    for _ in range(2):
        with started(CAMPAIGN, tmp_path) as process:
            wait_for_results(tmp_path, process, kept + 1)
            time.sleep(random.uniform(0, 0.3))
            before = tasks_done(tmp_path)
            workers = workers_of(process.pid) if process.poll() is None else []
            process.kill()
            process.wait()
        kept = tasks_done(tmp_path)
        assert kept >= before
        deadline = time.monotonic() + 10
        while any(Path(f"/proc/{worker}").exists() for worker in workers):
            assert time.monotonic() < deadline, "workers outlive their parent"
    final = langford(*CAMPAIGN)
    assert final.returncode == 0, final.stderr
    assert final.stdout.startswith(ANSWER)
    [status] = json.loads(langford("status", "--json").stdout)
    assert status["attempts"]["done"] == TASKS
    assert status["checked"]["confirmed"] == status["checked"]["conflicts"] == 0
    assert {task["failures"] for task in json.loads(langford("tasks", "soak", "--json").stdout)} == {0}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("members", "who"),
    # With the one that starts workers all of them end.
    [(workers_of, "worker process"), (children, "the process that starts workers")],
    ids=["workers", "fork server"],
)
def test_killed_processes_are_replaced_and_no_task_is_to_blame(
    langford: Run, tmp_path: Path, members: Callable[[int], list[int]], who: str
) -> None:
    with started(CAMPAIGN, tmp_path) as process:
        kill_three(tmp_path, process, members)
        hurry(tmp_path)
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert output.startswith(ANSWER)
    assert errors.count(f"{who} killed by SIGKILL") == 3
    assert {task["failures"] for task in json.loads(langford("tasks", "soak", "--json").stdout)} == {0}


@pytest.mark.exhaustive
def test_a_parent_that_ignores_its_children(tmp_path: Path) -> None:
    """Then nobody learns how a process of a run has ended; the run inherits that."""
    program = (
        "import signal, os, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *COMMAND, *CAMPAIGN],
        cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stdout.startswith(ANSWER), done.stderr
    assert done.returncode == 0


@pytest.mark.exhaustive
def test_a_scheduler_tells_every_process_to_end(langford: Run, tmp_path: Path) -> None:
    """SLURM's scancel does: whichever hears it first, no task is to blame."""
    with started(CAMPAIGN, tmp_path) as process:
        wait_for_results(tmp_path, process)
        family = [*workers_of(process.pid), *children(process.pid), process.pid]
        assert len(family) >= 3
        for member in family:
            os.kill(member, signal.SIGTERM)
        _, errors = process.communicate(timeout=100)
    assert process.returncode == 128 + signal.SIGTERM
    [status] = json.loads(langford("status", "--json").stdout)
    assert status["tasks"]["leased"] == 0
    assert {task["failures"] for task in json.loads(langford("tasks", "soak", "--json").stdout)} == {0}
    assert langford(*CAMPAIGN).stdout.startswith(ANSWER), errors


def test_a_time_limit_drains(langford: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within an hour's limit the first task, which takes an hour, leaves no time for another one."""
    saw = KnownSpeed.saw
    monkeypatch.setattr(KnownSpeed, "saw", lambda self, work, _: saw(self, work, 3600.0))
    limited = langford(*CAMPAIGN, "--time-limit", "1:00:00")
    assert limited.returncode == 3, limited.stderr
    assert "stopped at the time limit" in limited.stderr
    [status] = json.loads(langford("status", "--json").stdout)
    assert 0 < status["tasks"]["done"] < TASKS
    assert set(status["attempts"]) <= {"done", "released"}
    assert langford(*CAMPAIGN).stdout.startswith(ANSWER)


def test_leases_of_other_hosts_are_left_alone(langford: Run, tmp_path: Path) -> None:
    assert langford(*CAMPAIGN, "--time-limit", "0").returncode == 3
    ledger = Ledger(str(tmp_path / "langford.db"))
    campaign = ledger.campaign("soak")
    enrol(ledger, "elsewhere", "another-host", "1@2@3")
    [lease] = campaign.worker.lease("elsewhere", 1, 3600)
    enrol(ledger, "ghost", os.uname().nodename, "1@2@3")
    campaign.worker.lease("ghost", 3, 3600)
    done = langford(*CAMPAIGN)
    assert done.returncode == 3
    assert f"{TASKS - 1} of {TASKS} tasks done (other workers hold the rest)" in done.stderr
    assert campaign.reader.overview().attempts["expired"] == 3
    campaign.worker.end([lease])
    ledger.close()
    assert langford(*CAMPAIGN).stdout.startswith(ANSWER)


FAULT = f"""
import os, sys
if os.path.exists("fault") and {COMPUTING!r} in sys.orig_argv:
    from langford.methods.polyphase.cpu import PolyphaseOnCpu
    evaluate = PolyphaseOnCpu.evaluate
    def broken(self, index):
        if index in (3, 5):
            raise ZeroDivisionError("planted")
        return evaluate(self, index)
    PolyphaseOnCpu.evaluate = broken
"""


@pytest.mark.exhaustive
def test_tasks_that_fail_by_themselves_are_set_aside(langford: Run, tmp_path: Path) -> None:
    # A fault in the evaluation of two tasks, planted through the interpreter's start-up hook.
    (tmp_path / "fault").touch()
    environment = {**ENVIRONMENT, **planted(tmp_path, FAULT)}
    command = ["run", "langford", "12", "--depth", "12", "--name", "faulty"]
    with start(command, tmp_path, environment, stderr=subprocess.PIPE) as run:
        _, errors = run.communicate(timeout=120)
    assert run.returncode == 1, errors
    assert "2 tasks are set aside" in errors
    assert errors.count("will be tried again: ZeroDivisionError: planted") == 4
    aside = json.loads(langford("tasks", "faulty", "--state", "set-aside", "--json").stdout)
    assert [(task["index"], task["failures"]) for task in aside] == [(3, 3), (5, 3)]
    (tmp_path / "fault").unlink()
    assert langford("retry", "faulty").stdout == "2 tasks of faulty returned to the queue\n"
    done = langford(*command)
    assert done.stdout.startswith("L(2,12) = 108,144\n"), done.stderr


FULL = f"""
import os, sys
if os.path.exists("full") and {COMPUTING!r} in sys.orig_argv:
    from langford.methods.polyphase.cpu import PolyphaseOnCpu
    def full(self, index):
        raise MemoryError("Unable to allocate 3 GiB")
    PolyphaseOnCpu.evaluate = full
"""


@pytest.mark.exhaustive
def test_a_machine_without_memory_sets_no_task_aside(langford: Run, tmp_path: Path) -> None:
    (tmp_path / "full").touch()
    command = ["run", "langford", "12", "--depth", "12", "--name", "full", "--workers", "1"]
    with start(command, tmp_path, {**ENVIRONMENT, **planted(tmp_path, FULL)}, stderr=subprocess.PIPE) as run:
        _, errors = run.communicate(timeout=120)
    assert run.returncode == 1, errors
    assert "no memory left for a task (MemoryError: Unable to allocate 3 GiB): use fewer --workers" in errors
    assert "5 worker processes died in a row" in errors
    assert json.loads(langford("tasks", "full", "--state", "set-aside", "--json").stdout) == []
    (tmp_path / "full").unlink()
    done = langford(*command)
    assert done.stdout.startswith("L(2,12) = 108,144\n"), done.stderr


@pytest.mark.parametrize("module", ["click", "numba"])
def test_ctrl_c_while_it_starts_is_no_traceback(tmp_path: Path, module: str) -> None:
    write_program(tmp_path / "bin")
    program = "\n".join(
        [
            "import signal, sys",
            "class Interruption:",
            "    def find_spec(self, name, path=None, target=None):",
            f"        if name == {module!r}: signal.raise_signal(signal.SIGINT)",
            "sys.meta_path.insert(0, Interruption())",
        ]
    )
    environment = {**ENVIRONMENT, **planted(tmp_path / "planted", program)}
    for command, place in ((COMMAND, "/dev/full"), ([str(tmp_path / "bin" / "langford")], "errors")):
        with (tmp_path / place).open("w") as errors:
            done = subprocess.run(
                [*command, "count", "8"],
                cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True, check=False,
            )  # fmt: skip
        assert (done.returncode, done.stdout) == (130, "")
    assert (tmp_path / "errors").read_text().strip() in ("", "langford: stopped by SIGINT")
