"""The tasks of a server, as its workers see them; no network."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from db import Standing
from db.errors import CampaignMismatch
from jobs.reach.identity import Identity
from jobs.reach.outbox import Outbox
from jobs.reach.remote import RemoteCampaign
from jobs.reach.wire import Description
from jobs.run.source import TaskSource
from langford.methods import PlanKey
from langford.problem import Problem
from tests.support.campaigns import KEY, TASKS

MILLIONS = PlanKey(Problem.langford(28), "shifted", 24)


@pytest.mark.parametrize(("key", "tasks"), [(KEY, TASKS + 1), (MILLIONS, 5)], ids=["another version", "a lie"])
def test_a_campaign_that_is_split_otherwise_is_left_alone(
    key: PlanKey, tasks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Description.of("1" * 36, "2" * 36, "farmed", key, tasks, 1.0, Standing({}, {}), "kernels")
    monkeypatch.setattr(RemoteCampaign, "info", lambda self: told)
    me = Identity.fresh()
    source = TaskSource(RemoteCampaign("http://127.0.0.1:1/farmed", "token"), me, Outbox(tmp_path, me))
    tracemalloc.start()
    with pytest.raises(CampaignMismatch, match=f"into {tasks} tasks.*use the version that created it"):
        assert source.ready
    assert tracemalloc.get_traced_memory()[1] < 10e6  # no plan of millions of tasks was made
    tracemalloc.stop()
    assert not list(tmp_path.iterdir())
