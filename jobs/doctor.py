"""The examinations of ``langford doctor``: what this machine has, what works, what to install."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version

from langford.devices import CPU, Cuda, Device
from langford.errors import CheckFailed, named
from langford.kernels.gpu.runtime import NoGpu, describe_gpus
from langford.machine.cores import cores
from langford.problem import Problem
from langford.problem.reference import published
from langford.provenance import kernel_hash
from langford.version import install
from langford.words import several

TRIAL_PROBLEM, TRIAL_DEPTH = Problem.langford(12), 4
TRIAL_METHODS = ("polyphase", "godfrey")
COMMAND_SECONDS = 30.0


class State(StrEnum):
    """Whether a part of the machine is there and works."""

    WORKS = "works"
    ABSENT = "absent"
    BROKEN = "broken"


@dataclass(frozen=True)
class Finding:
    """The outcome of the examination of one part of the machine."""

    part: str
    state: State  # whether it exists and works
    detail: str  # versions and times, or what is wrong and what to do about it


def examine() -> Iterator[Finding]:
    """Examine every part of the machine in turn, and count on the processor and on every GPU."""
    libraries = ", ".join(f"{name} {_version(name)}" for name in ("langford", "numpy", "numba", "gmpy2"))
    yield Finding("python", State.WORKS, f"{platform.python_version()} on {platform.machine()}; {libraries}")
    from langford.methods import METHODS  # numba may not start

    by_method = ", ".join(f"{name} {method.kernels}" for name, method in METHODS.items())
    yield Finding(
        "kernels",
        State.WORKS,
        f"{kernel_hash()}: the hash of all code that computes; by method: {by_method}",
    )
    yield examine_device("processor", CPU, f"{CPU.model}, {several(cores(), 'core')}; ")
    yield from _gpus()
    yield _of_python("sqlite", _sqlite, "for ledgers on a local disk")
    yield _of_python("tls", _tls, "for task servers and their workers")
    yield _postgres()
    yield _mpi()
    yield examine_slurm()


def examine_device(part: str, device: Device, description: str = "") -> Finding:
    """Count a known problem on a device by each of the methods that every device has."""
    try:
        outcomes = "; ".join(_trial(device, method) for method in TRIAL_METHODS)
        return Finding(part, State.WORKS, description + outcomes)
    except Exception as error:  # any error of a driver or compiler is the finding
        return Finding(part, State.BROKEN, f"{description}{named(error)}")


def _trial(device: Device, method: str) -> str:
    """Raises CheckFailed when the count is wrong."""
    from langford.counting import count_tasks, plan  # numba may not start

    count, seconds = count_tasks(plan(TRIAL_PROBLEM, method, TRIAL_DEPTH), [device])
    if count.published != published(TRIAL_PROBLEM):
        raise CheckFailed(
            f"{method} counts {TRIAL_PROBLEM} = {count.published:,}, which is wrong: do not use this device"
        )
    return f"{method} counts {TRIAL_PROBLEM} correctly in {seconds:.2g} s"


def _sqlite() -> str:
    from sqlite3 import sqlite_version

    return sqlite_version


def _tls() -> str:
    from ssl import OPENSSL_VERSION

    return OPENSSL_VERSION


def _of_python(part: str, version_of: Callable[[], str], use: str) -> Finding:
    """A part of the standard library, which a Python may have been built without."""
    try:
        return Finding(part, State.WORKS, f"{version_of()}, {use}")
    except ImportError as error:
        return Finding(part, State.ABSENT, f"this Python was built without it ({error}): use another one {use}")


def _version(package: str) -> str | None:
    """None when it is not installed."""
    with suppress(PackageNotFoundError):
        return version(package)
    return None


def _gpus() -> Iterator[Finding]:
    try:
        gpus = describe_gpus()
    except NoGpu as error:
        yield Finding("gpu", State.ABSENT, f"{error}; everything else works without one")
        return
    for index, description in enumerate(gpus):
        yield examine_device(f"gpu {index}", Cuda(index), f"{description}; ")


def _postgres() -> Finding:
    psycopg = _version("psycopg")
    if psycopg is None:
        return Finding("postgres", State.ABSENT, f"for ledgers on a server: {install('postgres')}")
    return Finding("postgres", State.WORKS, f"psycopg {psycopg}")


def _mpi() -> Finding:
    installed = _version("mpi4py")
    if installed is None:
        return Finding("mpi", State.ABSENT, f"for mpirun: {install('mpi')}, which brings its own MPI")
    try:
        import mpi4py

        mpi4py.rc.initialize = False
        from mpi4py import MPI

        library = " ".join(MPI.Get_library_version().splitlines()[0].strip("\0").split())
    except (ImportError, RuntimeError) as error:
        advice = f"mpi4py finds no MPI library ({error}): install one, or the mpich wheel"
        return Finding("mpi", State.BROKEN, advice)
    launcher = shutil.which("mpirun") or shutil.which("mpiexec")
    detail = f"mpi4py {installed}, {library}, {launcher or 'but no mpirun on the PATH'}"
    return Finding("mpi", State.WORKS if launcher else State.BROKEN, detail)


def examine_slurm() -> Finding:
    """Whether sbatch is there and answers."""
    sbatch = shutil.which("sbatch")
    if not sbatch:
        return Finding("slurm", State.ABSENT, "no sbatch on the PATH; only needed on a cluster")
    try:
        process = subprocess.run(
            [sbatch, "--version"], capture_output=True, text=True, check=False, timeout=COMMAND_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("slurm", State.BROKEN, f"{sbatch} does not answer ({error}): ask who runs the cluster")
    state = State.WORKS if process.returncode == 0 else State.BROKEN
    return Finding("slurm", state, "; ".join((process.stdout or process.stderr).strip().splitlines()))
