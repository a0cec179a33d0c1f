"""``langford doctor``: what this machine has, what works, what to install."""

from __future__ import annotations

import platform
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version

import click

from langford.cli.options import json_option
from langford.devices import CPU, Device

WORKS, ABSENT, BROKEN = "works", "absent", "broken"
FAILED = 1
TRIAL = 12


@dataclass(frozen=True)
class Finding:
    """One part of the machine: its state, and what to do about it."""

    part: str
    state: str
    detail: str


def _version(package: str) -> str | None:
    with suppress(PackageNotFoundError):
        return version(package)
    return None


def _trial(device: Device, method: str) -> str:
    """Count L(2,12) on a device; the method, the time and whether the count is right."""
    from langford.counting import count_tasks, plan
    from langford.problem import Problem
    from langford.reference import published

    problem = Problem.langford(TRIAL)
    count, seconds = count_tasks(plan(problem, method, 4), [device])
    if count.published != published(problem):
        raise ArithmeticError(f"{method} counts L(2,{TRIAL}) = {count.published:,}, which is wrong")
    return f"{method} counts L(2,{TRIAL}) right in {seconds:.2g} s"


def _processor() -> Iterator[Finding]:
    libraries = ", ".join(f"{name} {_version(name)}" for name in ("langford", "numpy", "numba", "gmpy2"))
    yield Finding("python", WORKS, f"{platform.python_version()} on {platform.machine()}; {libraries}")
    yield _tried("processor", CPU, "")


def _tried(part: str, device: Device, what: str) -> Finding:
    try:
        return Finding(part, WORKS, what + "; ".join(_trial(device, method) for method in ("polyphase", "godfrey")))
    except Exception as error:  # whatever a driver or compiler may raise is the finding
        return Finding(part, BROKEN, f"{what}{type(error).__name__}: {error}")


def _gpus() -> Iterator[Finding]:
    from langford.kernels.cuda.runtime import NoGpu, describe_gpus

    try:
        gpus = describe_gpus()
    except NoGpu as error:
        yield Finding("gpu", ABSENT, f"{error}; everything else works without")
        return
    for index, what in enumerate(gpus):
        yield _tried(f"gpu {index}", Device("cuda", index), f"{what}; ")


def _database() -> Iterator[Finding]:
    yield Finding("sqlite", WORKS, f"{sqlite3.sqlite_version}, for ledgers on a local disk")
    psycopg = _version("psycopg")
    advice = "for ledgers on a server: pip install 'langford[postgres]'"
    yield Finding("postgres", WORKS if psycopg else ABSENT, f"psycopg {psycopg}" if psycopg else advice)


def _mpi() -> Iterator[Finding]:
    if _version("mpi4py") is None:
        yield Finding("mpi", ABSENT, "for mpirun: pip install 'langford[mpi]', which brings its own MPI")
        return
    try:
        import mpi4py

        mpi4py.rc.initialize = False
        from mpi4py import MPI

        library = MPI.Get_library_version().splitlines()[0].strip("\0 ")
    except (ImportError, RuntimeError) as error:
        yield Finding("mpi", BROKEN, f"mpi4py finds no MPI library ({error}): install one, or the mpich wheel")
        return
    launcher = shutil.which("mpirun") or shutil.which("mpiexec")
    detail = f"mpi4py {_version('mpi4py')}, {library}, {launcher or 'but no mpirun on the PATH'}"
    yield Finding("mpi", WORKS if launcher else BROKEN, detail)


def _slurm() -> Iterator[Finding]:
    sbatch = shutil.which("sbatch")
    if not sbatch:
        yield Finding("slurm", ABSENT, "no sbatch on the PATH; only needed on a cluster")
        return
    asked = subprocess.run([sbatch, "--version"], capture_output=True, text=True, check=False, timeout=30)
    state = WORKS if asked.returncode == 0 else BROKEN
    yield Finding("slurm", state, (asked.stdout or asked.stderr).strip())


def examine() -> Iterator[Finding]:
    """Look at every part of the machine in turn."""
    for part in (_processor, _gpus, _database, _mpi, _slurm):
        yield from part()


@click.command()
@json_option
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Say what this machine has, try it, and say what to install.

    Compiles and runs a small count on the processor and on every GPU.  Exit code 1 when
    something is there but does not work.
    """
    from langford.cli import display

    findings = []
    for finding in examine():
        findings.append(finding)
        if not as_json:
            print(f"{finding.part:<10} {finding.state:<7} {finding.detail}", flush=True)
    if as_json:
        display.print_json([asdict(finding) for finding in findings])
    if any(finding.state == BROKEN for finding in findings):
        context.exit(FAILED)
