"""What 1,000 campaigns without workers cost: a server of all of them, and `langford status`."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path

import psutil

from benchmarks.harness import Figure, Report, timed
from db import Ledger
from langford.methods import PlanKey, plan_of
from langford.problem import Problem

KEY = PlanKey(Problem.langford(12), "polyphase", 8)
CAMPAIGNS, QUICK_CAMPAIGNS = 1_000, 20
SETTLING_SECONDS, IDLE_SECONDS = 30.0, 60.0
MAX_OF_A_CORE, MAX_SECONDS = 0.05, 2.0


def measure(report: Report, folder: Path, quick: bool) -> None:
    """Print a row; ends the benchmark where an idle server or the command takes too much."""
    ledger, number = folder / "campaigns.db", QUICK_CAMPAIGNS if quick else CAMPAIGNS
    names = [f"campaign-{place}" for place in range(number)]
    with Ledger(str(ledger), create=True) as opened:
        for name in names:
            opened.create_campaign(name, KEY, plan_of(KEY).work.tolist())
    program = [sys.executable, "-P", "-m", "langford"]
    status = timed(
        3,
        partial(
            subprocess.run, [*program, "status", "--ledger", str(ledger)], check=True, stdout=subprocess.DEVNULL
        ),
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*program, "serve", *names, "--ledger", str(ledger), "--port", str(port)]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port)
        time.sleep(SETTLING_SECONDS / (10 if quick else 1))
        seconds = IDLE_SECONDS / (10 if quick else 1)
        before = _used(server.pid)
        time.sleep(seconds)
        share = (_used(server.pid) - before) / seconds
    finally:
        server.terminate()
        server.wait()
    table = report.table("campaigns", "idle server, % of a core", "status, s", "of a processor", title="campaigns")
    table.row(
        f"{number:,}",
        Figure(100 * share, "{:.1f}"),
        Figure(status.median, "{:.1f}"),
        Figure(status.median_processor, "{:.1f}"),
    )
    if share > MAX_OF_A_CORE or status.median_processor > MAX_SECONDS:
        raise SystemExit(f"too much: at most {MAX_OF_A_CORE:.0%} of a core and {MAX_SECONDS:.0f} s")


def _used(process: int) -> float:
    times = psutil.Process(process).cpu_times()
    return float(times.user + times.system)


def _wait_for(port: int) -> None:
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.2)
        else:
            return
