"""One round of the soak: a campaign with its server and its workers, and what is done to them."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psutil

from benchmarks.soak_parts.relay import Relay
from db import Ledger
from db.states import Role
from jobs.reach.join import Join
from langford.kernels.cache import CHOSEN, cache_folder
from langford.methods import PlanKey, plan_of
from langford.problem import Problem

KEY, QUICK_KEY = PlanKey(Problem.langford(16), "polyphase", 16), PlanKey(Problem.langford(15), "polyphase", 10)
NAME = "soak"
LEASE_SECONDS, PATIENCE_SECONDS = 4, 3
WORKERS, QUICK_WORKERS, CROWD = 2, 1, 8
"""Workers with processes of their own, and those that share one (crowd.py)."""
SHARE_OF_MESSAGES = 0.4
SECONDS_BETWEEN_BLOWS = 2.0
LOOK_SECONDS = 0.25
LOG_CHARACTERS = 4_000
"""Of the end of a log, when a worker ended as none should: where each of its threads was, after a crash."""
MAX_ROUND = 300.0
"""Seconds that a campaign may take after the last fault."""
ENDINGS = {0, 1, 3, -signal.SIGKILL, -signal.SIGTERM, 128 + signal.SIGTERM}
"""Exit codes of workers: done, tasks set aside or the machine failed, incomplete, killed, and stopped, before they
heard signals or after."""
PLANTED = """
import dataclasses, os, platform, sys
platform.node = lambda: os.environ["SOAK_HOST"]
import jobs.reach.patience, jobs.reach.remote, jobs.run.effort
jobs.reach.patience.Backoff.__init__.__defaults__ = (0.05, 0.5)
jobs.run.effort.STOCK = 0
way = jobs.reach.remote.SERVER
jobs.reach.remote.RemoteCampaign.transport = dataclasses.replace(way, idle_seconds=(0.2, 1.0))
lies = float(os.environ.get("SOAK_LIES", "0"))
if lies and "--multiprocessing-fork" in sys.orig_argv:
    import random
    from dataclasses import replace
    import jobs.pools.evaluation, jobs.pools.process_pool
    from langford.arithmetic.residue import residue
    honest = jobs.pools.evaluation.evaluate
    def evaluate(plan, index, device):
        true = honest(plan, index, device)
        if random.random() >= lies:
            return true
        value = true.result.value + (1 << plan.expectation(index).zero_bits)
        return replace(true, result=replace(true.result, value=value, residue=residue(value)))
    jobs.pools.process_pool.evaluate = evaluate
"""
"""In every process of a worker: a host of its own, short waits, small messages, and lies where they are wanted."""


def free_port() -> int:
    """Below the ports that a system gives to outgoing connections: the server is away for moments."""
    while True:
        with socket.socket() as one, contextlib.suppress(OSError):
            port = random.randrange(26_000, 32_000)
            one.bind(("127.0.0.1", port))
            return port


class Round:
    """One campaign, from its first task to its last result.

    Attributes:
        campaign: in a ledger of its own.
        ledger: that ledger.
        ended: workers that ended as none should.
    """

    def __init__(
        self, folder: Path, number: int, key: PlanKey, where: str, workers: int, liars: int, chance: random.Random
    ) -> None:
        """
        Args:
            folder: of the whole soak.
            number: of the round.
            key: of the campaign's plan.
            where: address of its ledger, which is empty.
            workers: how many are honest, besides the crowd.
            liars: how many lie, besides them.
            chance: chooses what happens.
        """
        self.soak_folder, self.where, self.honest, self.chance = folder, where, workers, chance
        self.folder = folder / f"round-{number}"
        self.folder.mkdir()
        (self.folder / "sitecustomize.py").write_text(PLANTED)
        self.ended: list[str] = []
        self.ledger = Ledger(self.where, create=True)
        self.campaign = self.ledger.create_campaign(NAME, key, plan_of(key).work.tolist())
        self.campaign.operator.raise_share(1.0)
        self.tokens = [self.campaign.operator.new_token(Role.WORKER) for _ in range(workers + liars)]
        self.crowd_tokens = [self.campaign.operator.new_token(Role.WORKER) for _ in range(CROWD)]
        self.port = free_port()
        self.relay = Relay(free_port(), self.port, self.chance.randrange(2**32))
        self.blows = Counter[str]()
        self.server = self.serve()
        self.workers: list[subprocess.Popen[bytes]] = [self.work(number) for number in range(len(self.tokens) + 1)]

    @property
    def faults(self) -> Counter[str]:
        """What has happened so far, by its name."""
        return self.relay.faults + self.blows

    # -- processes ------------------------------------------------------------------------

    def start(self, *command: str, log: str, **variables: str) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(filter(None, [str(self.folder), os.environ.get("PYTHONPATH")]))
        # Hosts of other names would find no compiled kernels, and each of them would compile them all.
        ours = {CHOSEN: str(cache_folder()), "SOAK_HOST": "server", "PYTHONPATH": path, "PYTHONFAULTHANDLER": "1"}
        environment = {**os.environ, **ours, **variables}
        with (self.folder / f"{log}.log").open("ab") as errors:
            return subprocess.Popen(
                [sys.executable, *command], cwd=self.folder, env=environment, stdout=errors, stderr=errors
            )

    def serve(self) -> subprocess.Popen[bytes]:
        return self.start(
            "-m", "langford", "serve", NAME, "--port", str(self.port), "--ledger", self.where, log="server"
        )

    def work(self, number: int) -> subprocess.Popen[bytes]:
        """Start a worker; each number is a host, with its own token and outbox.  The last is the crowd."""
        url = f"http://127.0.0.1:{self.relay.server_address[1]}/{NAME}"
        if number == len(self.tokens):
            crowd = str(Path(__file__).with_name("crowd.py"))
            tokens = " ".join(self.crowd_tokens)
            return self.start(crowd, url, str(LEASE_SECONDS), "outbox-crowd", log="crowd", CROWD_TOKENS=tokens)
        lies, file = "0.3" if number >= self.honest else "0", self.folder / f"{number}.join"
        Join([url], self.tokens[number]).write(file)
        return self.start(
            "-m", "langford", "work", str(file), "--workers", "1", "--lease", str(LEASE_SECONDS),
            "--patience", str(PATIENCE_SECONDS), "--outbox", f"outbox-{number}",
            log=f"worker-{number}", SOAK_HOST=f"host{number}", SOAK_LIES=lies,
        )  # fmt: skip

    # -- one round ------------------------------------------------------------------------

    def complete(self, most: int, until: float) -> None:
        """Let the workers work, and hit them, until every result is there and confirmed.

        There are about ``most`` faults, and none after the moment ``until``.  Raises SystemExit when the campaign
        does not come to its end after that.
        """
        self.relay.share = SHARE_OF_MESSAGES
        quiet_since = None
        while not self.is_done():
            over = self.faults.total() >= most or time.monotonic() > until
            if over and quiet_since is None:
                quiet_since, self.relay.share = time.monotonic(), 0.0
            if quiet_since is not None and time.monotonic() - quiet_since > MAX_ROUND:
                raise SystemExit(f"the campaign does not end: {self.campaign.reader.standing()}; see {self.folder}")
            time.sleep(LOOK_SECONDS)
            if not over and self.chance.random() < LOOK_SECONDS / SECONDS_BETWEEN_BLOWS:
                self.strike()
            self.mend()
        self.relay.share = 0.0

    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        reader, standing = self.campaign.reader, self.campaign.reader.standing()
        left = standing.to_do or standing.tasks.get("set-aside") or reader.overview().checked.conflicts
        return not left

    def mend(self) -> None:
        """What an operator and a queue do: start what has ended, and try again what was set aside."""
        if self.server.poll() is not None:
            self.server = self.serve()
        for number, worker in enumerate(self.workers):
            code = worker.poll()
            if code is not None:
                if code not in ENDINGS and number not in range(self.honest, len(self.tokens)):
                    name = "crowd" if number == len(self.tokens) else f"worker-{number}"
                    log = (self.folder / f"{name}.log").read_text(errors="replace")
                    self.ended.append(f"{name} ended with {code}, and its log with:\n{log[-LOG_CHARACTERS:]}")
                self.workers[number] = self.work(number)
        self.campaign.operator.reopen()

    def strike(self) -> None:
        """One fault of a process, a file or an operator."""
        worker = self.chance.choice(self.workers)
        blows: dict[str, Callable[[], object]] = {
            "worker killed": worker.kill,
            "worker preempted": worker.terminate,
            "worker stopped for a while": lambda: _stop_for(worker.pid, self.chance.uniform(0.1, 2)),
            "computing process killed": lambda: _strike_child(self.chance, worker.pid, signal.SIGKILL),
            "computing process hangs": lambda: _strike_child(self.chance, worker.pid, signal.SIGSTOP),
            "server killed": self.server.kill,
            "server stopped for a while": lambda: _stop_for(self.server.pid, self.chance.uniform(0.1, 2)),
            "leases taken back": lambda: self.campaign.operator.take_back("by the soak"),
            "file of an outbox cut short": self.cut_file,
            "file of another campaign in an outbox": self.foreign_file,
        }
        if self.where.startswith("postgresql"):
            blows["connections to Postgres broken"] = self.break_connections
        name = self.chance.choice(list(blows))
        with contextlib.suppress(psutil.Error, OSError):
            blows[name]()
            self.blows[name] += 1

    def cut_file(self) -> None:
        """Cut a result short that waits; nothing where none waits."""
        files = self.files()
        if files:
            file = self.chance.choice(files)
            file.write_bytes(file.read_bytes()[:50])

    def foreign_file(self) -> None:
        """Where an earlier campaign left a file, it comes to light now."""
        kept = sorted(self.soak_folder.glob("kept-*"))
        outbox = self.folder / f"outbox-{self.chance.randrange(self.honest)}"
        if kept and outbox.is_dir():
            dead = outbox / self.campaign.uuid / "11111111-0000-4000-8000-000000000000"
            dead.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.chance.choice(kept), dead / "7.abcdef012345.result.json")
        for file in self.files()[:1]:
            with contextlib.suppress(OSError):
                shutil.copy(file, self.soak_folder / f"kept-{self.folder.name}")

    def files(self) -> list[Path]:
        """The results that wait in outboxes."""
        return sorted(self.folder.glob("outbox-*/*-*/*/*.result.json"))

    def break_connections(self) -> None:
        """Let Postgres close all connections."""
        with self.ledger.database.writing() as connection:
            connection.exec_driver_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    def stop(self) -> None:
        """End all processes of the round."""
        for process in [*self.workers, self.server]:
            with contextlib.suppress(psutil.Error):
                for child in psutil.Process(process.pid).children(recursive=True):
                    child.kill()
            process.kill()
            process.wait()
        self.relay.shutdown()
        self.relay.server_close()
        self.ledger.close()


def _stop_for(process: int, seconds: float) -> None:
    os.kill(process, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        os.kill(process, signal.SIGCONT)


def _strike_child(chance: random.Random, parent: int, number: signal.Signals) -> None:
    """Send a signal to a computing process of a worker, or to the one that has forked it."""
    family = psutil.Process(parent).children(recursive=True)
    computing = [child for child in family if any("spawn_main" in word for word in child.cmdline())]
    if computing:
        chance.choice(computing).send_signal(number)
