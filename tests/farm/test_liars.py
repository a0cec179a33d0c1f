"""Replication with a real server, real workers and the command line: what liars reach, what the user is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from db import Delivery
from db.identity import Identity
from jobs.reach.remote import RemoteServer
from langford.arithmetic.residue import residue
from langford.methods import PlanKey
from langford.problem import Problem
from langford.result import Evaluation
from tests.support.command_line import Run
from tests.support.farm import NAME, Farm

STEP = 1 << 22
"""A multiple of what the total must be divisible by: no check of the sums notices it."""
SMALL, COUNT = PlanKey(Problem.langford(12), "polyphase", 8), "108144"


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Farm]:
    made = Farm(tmp_path, SMALL)
    made.campaign.operator.raise_share(1.0)
    yield made
    made.stop()


def lie(farm: Farm, host: str, token: str) -> int:
    """Lie about all tasks that the server grants to a fresh worker; how many."""
    plan, told = farm.campaign.plan, 0
    liar = RemoteServer(f"http://127.0.0.1:{farm.port}/{NAME}", token).campaign()
    me = structs.replace(Identity.fresh(), host=host)
    _, leases = liar.enrol(me, 10, 60, [])
    while leases:
        deliveries = []
        for lease in leases:
            true = plan.evaluate(lease.index)
            value = true.value + STEP
            forged = replace(true, value=value, residue=residue(value))
            deliveries.append(Delivery.of(lease, Evaluation(forged, 0.5, "{}")))
        liar.deliver(deliveries)
        told += len(deliveries)
        leases = liar.lease(me.worker_id, 10, 60, list(range(1000)))
    return told


def test_a_lying_client_never_ends_in_a_count(farm: Farm, langford: Run) -> None:
    """One lying client did everything; then it comes back under other names; then honest workers come."""
    assert lie(farm, "liar", farm.token) == farm.campaign.tasks
    assert lie(farm, "invented", farm.token) == 0
    waits = langford("result", NAME)
    assert (waits.returncode, waits.stdout) == (3, "")
    assert f"0 of {farm.campaign.tasks} drawn results replicated" in waits.stderr
    plainly = langford("result", NAME, "--unconfirmed")
    assert plainly.returncode == 4  # the published value is another one
    assert f"NOT CONFIRMED: 0 of {farm.campaign.tasks}" in plainly.stdout
    first = farm.work_on("first")
    _, errors = first.communicate(timeout=100)
    assert (first.returncode, "results wait for workers with other tokens" in errors) == (0, True)
    assert langford("result", NAME).returncode == 4  # a conflict
    [status] = json.loads(langford("status", "--json").stdout)
    assert (status["checked"]["conflicts"], status["tasks"]["recheck"]) == (
        farm.campaign.tasks,
        farm.campaign.tasks,
    )
    second = farm.work_on("second")
    _, errors = second.communicate(timeout=100)
    assert second.returncode == 0, errors
    done = json.loads(langford("result", NAME, "--json").stdout)
    assert (done["count"], done["replicated"]) == (COUNT, farm.campaign.tasks)
    assert lie(farm, "liar", farm.token) == 0
