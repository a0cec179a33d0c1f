"""A ledger as a best-effort campaign leaves it: nodes come and go, tasks are aborted, some results are confirmed.

The nodes, the times and the sums are drawn at random, and the sums such that they pass every check: the campaign is
as large as that of L(2, 28) in Loiseau's thesis (131,072 tasks of 1,321 s ± 12 %, about 99
nodes of 260, 23 days).
"""

from __future__ import annotations

import heapq
import json
import random
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from sqlalchemy import Connection, insert, update

from db import Ledger
from db.schema.models import Attempt, Base, Campaign, Event, Result, Task, Voter, Witness, Worker
from db.states import Ending, EventKind, Outcome, TaskState, VoterKind
from langford.arithmetic.residue import residue
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from langford.problem.reference import published
from langford.provenance import kernel_hash
from langford.version import __version__

NODES = 260
FREE_SECONDS, BUSY_SECONDS = 9.0 * 3600, 14.7 * 3600
"""For how long a node is free for others, and in use by its owners, in the mean."""
TASK_SECONDS, DEVIATION = 1321.0, 0.12
WAIT_SECONDS = 4.0
"""From the lease to the beginning of computing."""
CONFIRMED = 0.02
"""Share of the results that another node computes again."""
BEGIN = 1_700_000_000.0
MODELS = ("NVIDIA H200", "NVIDIA A100", "AMD EPYC 7763")
BATCH = 10_000
KEY, QUICK_KEY = (PlanKey(Problem.langford(28), "godfrey", depth) for depth in (20, 12))


@dataclass(frozen=True)
class Simulated:
    """An attempt of the campaign.

    Attributes:
        index: of the task.
        worker: position of the worker.
        granted, began, ended: seconds since 1970.
        outcome: how it ended.
    """

    index: int
    worker: int
    granted: float
    began: float
    ended: float
    outcome: Outcome


@dataclass(frozen=True)
class Job:
    """A worker: one job on one node.

    Attributes:
        node: its number.
        started, ended: seconds since 1970.
        ending: how it ended.
    """

    node: int
    started: float
    ended: float
    ending: Ending


def simulate(tasks: int, chance: random.Random) -> tuple[list[Job], list[Simulated]]:
    """(the workers, the attempts in the order in which they ended)."""
    free = [(BEGIN + chance.expovariate(1 / BUSY_SECONDS) * (node % 3 > 0), node) for node in range(NODES)]
    heapq.heapify(free)
    ready, jobs, attempts = list(range(tasks))[::-1], list[Job](), list[Simulated]()
    while ready:
        started, node = heapq.heappop(free)
        until = started + chance.expovariate(1 / FREE_SECONDS)
        time, worker, ending = started, len(jobs), Ending.FINISHED
        # Tasks are not in the order of time over all nodes: for the times of a campaign that does not matter.
        while ready and ending is Ending.FINISHED:
            began = time + WAIT_SECONDS
            seconds = max(60.0, chance.gauss(TASK_SECONDS, DEVIATION * TASK_SECONDS))
            ended = began + seconds * (1 + 0.5 * (node % 7 == 0))
            if ended > until:
                ending = Ending.PREEMPTED if node % 11 else Ending.LOST
                outcome = Outcome.PREEMPTED if node % 11 else Outcome.EXPIRED
                if until > began:
                    attempts.append(Simulated(ready[-1], worker, time, began, until, outcome))
                break
            attempts.append(Simulated(ready.pop(), worker, time, began, ended, Outcome.DONE))
            time = ended
        jobs.append(Job(node, started, min(until, max(time, started + WAIT_SECONDS)), ending))
        heapq.heappush(free, (until + chance.expovariate(1 / BUSY_SECONDS), node))
    return jobs, sorted(attempts, key=lambda attempt: attempt.ended)


def values(key: PlanKey, chance: random.Random) -> list[int]:
    """Partial sums that pass every check, and add up to the published count."""
    plan = plan_of(key)
    bits = max(plan.expectation(index).zero_bits for index in plan.tasks)
    sums = [chance.randrange(-(2**90), 2**90) << bits for _ in plan.tasks]
    count = published(key.problem)
    assert count is not None
    sums[-1] += plan.multiplier * 2 * count - sum(sums)
    return sums


def write(file: Path, key: PlanKey = KEY, seed: int = 1) -> int:
    """Write the ledger into a new file; returns the number of tasks."""
    chance, plan = random.Random(seed), plan_of(key)
    jobs, attempts = simulate(len(plan.work), chance)
    with Ledger(str(file), create=True) as ledger:
        campaign = ledger.create_campaign("thesis", key, plan.work.tolist())
        with ledger.database.writing() as connection:
            number = campaign.campaign_id
            connection.execute(update(Campaign).values(created=BEGIN - 60))
            connection.execute(update(Task).values(state=TaskState.DONE))
            _insert(
                connection, Voter, ({"id": 1 + n, "kind": VoterKind.WORKER, "host": _host(n)} for n in range(NODES))
            )
            _insert(connection, Worker, map(_worker, range(len(jobs)), jobs))
            _insert(connection, Attempt, (_attempt(number, n, a) for n, a in enumerate(attempts, 1)))
            done = [(n, a) for n, a in enumerate(attempts, 1) if a.outcome is Outcome.DONE]
            sums = values(key, chance)
            _insert(connection, Result, (_result(number, n, a, jobs, sums, chance) for n, a in done))
            _confirm(connection, number, done, jobs, sums, len(attempts), chance)
    return len(plan.work)


def _confirm(
    connection: Connection,
    campaign_id: int,
    done: Sequence[tuple[int, Simulated]],
    jobs: Sequence[Job],
    sums: Sequence[int],
    first: int,
    chance: random.Random,
) -> None:
    """Let other nodes compute some results again."""
    again = []
    for (_, a), (_, b) in pairwise(done):
        # The worker of the next result: its job is not over, or just now.
        if chance.random() < CONFIRMED and jobs[a.worker].node != jobs[b.worker].node:
            again.append(Simulated(a.index, b.worker, b.began, b.began, b.ended, Outcome.SUPERSEDED))
    _insert(connection, Attempt, (_attempt(campaign_id, n, a) for n, a in enumerate(again, first + 1)))
    rows = [_result(campaign_id, n, a, jobs, sums, chance) for n, a in enumerate(again, first + 1)]
    kept = (
        "campaign_id",
        "task_index",
        "attempt_id",
        "value",
        "residue",
        "evaluated",
        "seconds",
        "provenance",
        "accepted",
    )
    _insert(connection, Witness, ({name: row[name] for name in kept} for row in rows))
    for a in again:
        confirmed = update(Result).where(Result.campaign_id == campaign_id, Result.task_index == a.index)
        connection.execute(confirmed.values(confirmed_by=1 + jobs[a.worker].node))
    events = [(EventKind.CONFIRMED, a, "") for a in again]
    events += [
        (EventKind.CONFLICT, again[0], "task 7: 12 of host node007 against 13 of host node008"),
        (EventKind.SETTLED, again[1], "13 by 2 votes against 1"),
        (EventKind.DISTRUSTED, again[2], "node007 found another value than two independent voters"),
    ]
    _insert(
        connection,
        Event,
        (
            {"campaign_id": campaign_id, "task_index": a.index, "at": a.ended, "kind": kind, "detail": detail}
            for kind, a, detail in events
        ),
    )


def _insert(connection: Connection, table: type[Base], rows: Iterator[dict[str, object]]) -> None:
    batch = list[dict[str, object]]()
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            connection.execute(insert(table), batch)
            batch.clear()
    if batch:
        connection.execute(insert(table), batch)


def _host(node: int) -> str:
    return f"node{node:03}"


def _worker_id(position: int) -> str:
    return str(uuid.UUID(int=position + 1))


def _worker(position: int, job: Job) -> dict[str, object]:
    model = MODELS[job.node % 3]
    return {
        "id": _worker_id(position),
        "host": _host(job.node),
        "process": str(1000 + position),
        "started": job.started,
        "device_kind": "cuda" if "NVIDIA" in model else "cpu",
        "device_model": model,
        "kernels": kernel_hash(),
        "voter_id": 1 + job.node,
        "last_seen": job.ended,
        "ended": job.ended,
        "ending": job.ending,
        "slurm_job": str(70_000 + position),
        "slurm_index": None,
        "processes": 1,
    }


def _attempt(campaign_id: int, number: int, attempt: Simulated) -> dict[str, object]:
    lost = attempt.outcome in (Outcome.PREEMPTED, Outcome.EXPIRED)
    return {
        "id": number,
        "campaign_id": campaign_id,
        "task_index": attempt.index,
        "worker_id": _worker_id(attempt.worker),
        "granted": attempt.granted,
        "began": None if lost else attempt.began,
        "deadline": attempt.ended + 60,
        "steps": 1 if lost else None,
        "ended": attempt.ended,
        "outcome": attempt.outcome,
        "note": "SIGTERM" if attempt.outcome is Outcome.PREEMPTED else None,
    }


def _result(
    campaign_id: int,
    number: int,
    attempt: Simulated,
    jobs: Sequence[Job],
    sums: Sequence[int],
    chance: random.Random,
) -> dict[str, object]:
    node = jobs[attempt.worker].node
    model = MODELS[node % 3]
    device = f"cuda:0 {model}" if "NVIDIA" in model else "cpu"
    source = {
        "device": device,
        "host": _host(node),
        "kernels": kernel_hash(),
        "langford": __version__,
        "numpy": "2.3.0",
    }
    value = sums[attempt.index]
    return {
        "campaign_id": campaign_id,
        "task_index": attempt.index,
        "attempt_id": number,
        "value": str(value),
        "residue": str(residue(value)),
        "evaluated": str(2**36),
        "seconds": attempt.ended - attempt.began,
        "provenance": json.dumps(source, sort_keys=True),
        "accepted": attempt.ended,
        "voter_id": 1 + node,
        "drawn": False,
    }
