"""What all tests share."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import WorkStealingScheduling

import tests.support.inheritance  # noqa: F401  (before all others)
from langford.kernels.cache import cache_folder
from langford.methods import METHODS
from tests.support import compiled_statements  # noqa: F401  (all ledgers share them)
from tests.support.command_line import COMMAND, ENVIRONMENT, Mpirun, Run, changes, command_on, may_change, run_here
from tests.support.disks import mounted
from tests.support.farm import CAMPAIGN, Farm
from tests.support.preloaded import preload

# The same examples in every run: the tests of a change do not depend on chance.
settings.register_profile("langford", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("langford")

ROOT = Path(__file__).parents[1]
OPEN_MPI = {
    **dict.fromkeys(
        (f"{part}_ALLOW_RUN_AS_ROOT{more}" for part in ("OMPI", "PRTE") for more in ("", "_CONFIRM")), "1"
    ),
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""What Open MPI, of version 4 and of later ones, needs from root, and for more ranks than cores."""
TIMEOUT = 240.0
"""Seconds after which a command is ended."""
WAITING_PROCESSES = 1
"""Test processes more than there are cores."""
ORDER = {"test_soak.py": 0, "cluster": 1, "system": 2, "farm": 3, "cli": 4}
"""A test that takes a minute, and the rooms whose tests wait for other processes, the longest waits first."""
COLLECT = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "--dist", "no"]
unexpected_skips: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    """Have kernels and test modules compiled once, before several processes find none and each compile them all."""
    if hasattr(config, "workerinput") or getattr(config.option, "dist", "no") == "no":
        return
    preload()
    compiled = cache_folder() / "compiled-for-tests"
    if not compiled.exists():
        of = {"necklace": ["starter"]}
        calls = [*(["count", *of.get(each, []), "8", "--method", each] for each in METHODS), ["estimate", "8"]]
        commands = [[*COLLECT, *config.args], *([*COMMAND, *arguments] for arguments in calls)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(partial(_run, folder=config.rootpath), commands))
        compiled.touch()


def _run(command: list[str], folder: Path) -> None:
    # What fails here fails again in a test, or when the tests are collected, and is said there.
    environment = {**ENVIRONMENT, "PYTEST_ADDOPTS": ""}
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)


def pytest_xdist_auto_num_workers() -> int:
    """Processes for ``-n auto``: most of them wait for servers, clusters and workers."""
    return int(os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS", (os.cpu_count() or 1) + WAITING_PROCESSES))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A process with nothing left to do takes over tests of the others, unless ``--dist`` says otherwise."""
    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


@pytest.hookimpl(trylast=True)  # once it is clear which ones are run
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Deal the files to the processes, those that wait first; each gets as many tests as pytest-xdist gives it."""
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    files = [list(listed) for _, listed in groupby(items, key=lambda item: item.path)]
    files.sort(key=lambda listed: min(ORDER.get(name, len(ORDER)) for name in listed[0].path.parts[-2:]))
    dealt: list[list[pytest.Item]] = [[] for _ in range(processes)]
    for listed in files:
        min(dealt, key=len).extend(listed)
    # A test that is cut off here would be the last one of the process before.
    sizes = [(len(items) + process) // processes for process in range(processes)]
    spare = [item for own, size in zip(dealt, sizes, strict=True) for item in own[size:]]
    items.clear()
    for own, size in zip(dealt, sizes, strict=True):
        lacking = max(size - len(own), 0)
        items += own[:size] + spare[:lacking]
        del spare[:lacking]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """In CI everything but a GPU is installed: note every other skip."""
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        reason = str(report.longrepr)
        if "GPU" not in reason:
            unexpected_skips.append(f"{report.nodeid}: {reason}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A skip that CI must not have is a failure."""
    if unexpected_skips and not hasattr(session.config, "workerinput"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which skips failed the run."""
    for skip in unexpected_skips:
        terminalreporter.write_line(f"skipped in CI: {skip}", red=True)


@pytest.fixture
def langford(tmp_path: Path) -> Run:
    """Call ``langford`` with arguments; the working folder is ``tmp_path``.

    It evaluates tasks itself, unless ``in_process`` is false; ``values`` are other values of constants, see
    :func:`tests.support.preloaded.adapt`.
    """

    def call(
        *arguments: str,
        cwd: Path = tmp_path,
        host: str | None = None,
        variables: dict[str, str] | None = None,
        values: dict[str, object] | None = None,
        in_process: bool = True,
        **options: object,
    ) -> subprocess.CompletedProcess[str]:
        environment = ENVIRONMENT | (variables or {})
        changed = [name for name, value in environment.items() if os.environ.get(name) != value]
        if in_process and not options and may_change(changed):
            return run_here(arguments, cwd, {name: environment[name] for name in changed}, values, host)
        assert values is None
        return subprocess.run(
            [*command_on(host), *arguments],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
            **options,  # type: ignore[call-overload]
        )

    return call


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that are called in this process evaluate tasks themselves: they start no processes for them."""
    for change in changes({}, in_process=True):
        monkeypatch.setattr(*change)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures of reports are empty: they take a second, and the test does not read them."""
    figure = import_module("matplotlib.figure").Figure
    monkeypatch.setattr(import_module("jobs.show.report.formats.svg"), "draw", lambda *_: figure((1, 1)))


@pytest.fixture
def mpirun(python_on_ranks: Mpirun) -> Mpirun:
    """Start ``langford`` on some ranks with arguments; the working folder is ``tmp_path``."""
    return lambda ranks, *arguments: python_on_ranks(ranks, *COMMAND[1:], *arguments)


@pytest.fixture
def python_on_ranks(tmp_path: Path) -> Mpirun:
    """Start Python on some ranks with arguments; the working folder is ``tmp_path``."""
    pytest.importorskip("mpi4py", reason="needs mpi4py")
    beside = Path(sys.executable).with_name("mpirun")
    launcher = str(beside) if beside.exists() else shutil.which("mpirun")
    if launcher is None:
        pytest.skip("needs mpirun")

    def start(ranks: int, *arguments: str) -> subprocess.Popen[str]:
        path = ENVIRONMENT.get("PYTHONPATH"), str(ROOT)  # where langford is not installed, too
        return subprocess.Popen(
            [launcher, "-n", str(ranks), sys.executable, *arguments],
            cwd=tmp_path,
            env=ENVIRONMENT | OPEN_MPI | {"PYTHONPATH": os.pathsep.join(filter(None, path))},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return start


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Farm]:
    """A farm for L(2,12)."""
    made = Farm(tmp_path, CAMPAIGN)
    yield made
    made.stop()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 64 KiB."""
    with mounted(tmp_path / "disk", "size=64k") as folder:
        yield folder
