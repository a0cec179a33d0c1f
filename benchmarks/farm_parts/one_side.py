"""What a task costs one version of the program: run as a script, with the version's checkout as PYTHONPATH.

    python one_side.py sqlite|postgres|server ADDRESS BATCH TASKS

ADDRESS is a new file or an empty database.  It prints processor seconds a task as JSON: of this process; of its
Postgres backend, or of the task server; and how many SQL statements this process sent for each task.  It uses only
names that every version since 1.0 has.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import psutil
from sqlalchemy import Engine, event, text

from db import Delivery, Ledger
from db.states import Role
from db.trust.enrolment import insert_worker
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from langford.result import Evaluation, PartialResult

try:
    from db.identity import Identity
    from jobs.reach.remote import RemoteServer
except ModuleNotFoundError:  # 1.1
    try:
        from jobs.reach.identity import Identity

        from jobs.reach.remote import RemoteServer
    except ModuleNotFoundError:  # 1.0
        from jobs.farm.worker.client import RemoteCampaign
        from jobs.run.identity import Identity

        RemoteServer = None

KEY, NAME = PlanKey(Problem.langford(12), "polyphase", 18), "bench"
WARM_UP = 3
"""Claims before the first one that counts: statements are composed, connections are open."""


def delivery_of(lease: Any, done: Evaluation) -> Any:
    """A result as workers deliver it."""
    return Delivery.of(lease, done) if hasattr(Delivery, "of") else Delivery(lease.attempt, lease.nonce, done)


def complete(campaign: Any, worker: str, batch: int, held: list[Any]) -> list[Any]:
    """Hand in the sum 0 for leases, and get the next ones, as the loop of a worker does."""
    evaluations = [Evaluation(PartialResult(lease.index, 0, 0, 0), 0.0, "{}") for lease in held]
    done = [delivery_of(lease, evaluation) for lease, evaluation in zip(held, evaluations, strict=True)]
    if hasattr(campaign, "exchange"):
        _, leases = campaign.exchange(done, worker, batch, 600, [])
    else:
        if done:
            campaign.deliver(done)
        leases = campaign.lease(worker, batch, 600, [])
    if not leases:
        raise SystemExit("no task is left")
    return list(leases)


def cost(campaign: Any, worker: str, batch: int, tasks: int, other: Callable[[], float]) -> dict[str, float]:
    """Complete some tasks; ``other``: the processor seconds of another process until now."""
    held: list[Any] = []
    for _ in range(WARM_UP):
        held = complete(campaign, worker, batch, held)
    sent = 0

    def count(*_: object) -> None:
        nonlocal sent
        sent += 1

    event.listen(Engine, "before_cursor_execute", count)
    before, own, done = other(), time.process_time(), 0
    while done < tasks:
        done += len(held)
        held = complete(campaign, worker, batch, held)
    return {
        "own": (time.process_time() - own) / done,
        "other": (other() - before) / done,
        "statements": sent / done,
    }


def seconds_of(process: psutil.Process) -> float:
    """Its processor time."""
    times = process.cpu_times()
    return float(times.user + times.system)


def directly(ledger: Ledger, campaign: Any, kind: str, batch: int, tasks: int) -> dict[str, float]:
    """Measure a worker in the ledger itself."""
    with ledger.database.writing() as connection:
        insert_worker(connection, "worker", "host", "1")
    other: Callable[[], float] = lambda: 0.0  # noqa: E731
    if kind == "postgres":
        with ledger.database.reading() as connection:
            backend = psutil.Process(connection.scalar(text("SELECT pg_backend_pid()")))
        other = lambda: seconds_of(backend)  # noqa: E731
    return cost(getattr(campaign, "worker", campaign), "worker", batch, tasks, other)


def through_a_server(where: str, campaign: Any, batch: int, tasks: int) -> dict[str, float]:
    """Measure a worker of a task server, whose processor time is the other one."""
    token = getattr(campaign, "operator", campaign).new_token(Role.WORKER)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = [sys.executable, "-m", "langford", "serve", NAME, "--ledger", where, "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        me, url = Identity.fresh(), f"http://127.0.0.1:{port}/{NAME}"
        remote = RemoteServer(url, token).campaign() if RemoteServer else RemoteCampaign(url, token)
        while True:
            try:
                try:
                    remote.enrol(me, 1, 60.0, [])
                except TypeError:
                    remote.enrol(me)  # of the version before
                break
            except Exception:
                time.sleep(0.1)
        server = psutil.Process(process.pid)
        return cost(remote, me.worker_id, batch, tasks, lambda: seconds_of(server))
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    kind, where, batch, tasks = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    with Ledger(where, create=True) as ledger:
        campaign = ledger.create_campaign(NAME, KEY, plan_of(KEY).work.tolist())
        if kind == "server":
            figures = through_a_server(where, campaign, batch, tasks)
        else:
            figures = directly(ledger, campaign, kind, batch, tasks)
    json.dump(figures, sys.stdout)
    sys.stdout.flush()
    os._exit(0)
