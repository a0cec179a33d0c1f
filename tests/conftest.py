"""What all tests share."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import tests.inheritance  # noqa: F401  (before all others)
from langford.kernels.cache import cache_folder
from langford.methods import METHODS
from tests.command_line import COMMAND, ENVIRONMENT, Mpirun, Run, command_on
from tests.preloaded import preloaded

# The same examples in every run: the tests of a change do not depend on chance.
settings.register_profile("langford", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("langford")

TIMEOUT = 240.0
"""Seconds after which a command is ended."""
LONGEST = [
    *(f"tests/integration/test_{name}.py" for name in ("slurm", "soak", "belonging", "farm", "stalls", "words")),
    "tests/unit/test_doctests.py",
]
unexpected_skips: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    """Have the kernels compiled once, before several processes find an empty cache and each compile them all."""
    if hasattr(config, "workerinput") or getattr(config.option, "dist", "no") == "no":
        return
    compiled = cache_folder() / "compiled-for-tests"
    if not compiled.exists():
        calls = [*(["count", "8", "--method", method] for method in METHODS), ["estimate", "8"]]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(_compile, calls))
        compiled.touch()


def _compile(arguments: list[str]) -> None:
    subprocess.run([*COMMAND, *arguments], env=ENVIRONMENT, capture_output=True, check=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long comes first, the longest single tests before all: no process is left with one at the end."""
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    file = item.nodeid.partition("::")[0]
    if file in LONGEST:
        return LONGEST.index(file)
    return len(LONGEST) + (not file.startswith("tests/integration/"))


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
    """Call ``langford`` with arguments; the working folder is ``tmp_path``."""

    def call(
        *arguments: str,
        cwd: Path = tmp_path,
        host: str | None = None,
        variables: dict[str, str] | None = None,
        **options: object,
    ) -> subprocess.CompletedProcess[str]:
        changed = {name for name in variables or {} if not name.startswith("LANGFORD_")}
        if not (host or options or changed):
            return preloaded().run(list(arguments), cwd, ENVIRONMENT | (variables or {}), TIMEOUT)
        return subprocess.run(
            [*command_on(host), *arguments],
            cwd=cwd,
            env=ENVIRONMENT | (variables or {}),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
            **options,  # type: ignore[call-overload]
        )

    return call


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
        return subprocess.Popen(
            [launcher, "-n", str(ranks), sys.executable, *arguments],
            cwd=tmp_path,
            env=ENVIRONMENT,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return start
