"""An overview as JSON and back, and documents that are none."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from db import messages
from db.look.overview.records import (
    Checked,
    Eta,
    Happened,
    Lost,
    Overview,
    Parts,
    Total,
    Warned,
    WarningKind,
    WorkerState,
    WorkerView,
    WorkRate,
)
from db.messages import Time, converted, iso

WORKER = WorkerView(
    "0f3a29c4",
    "node-17",
    "4711",
    "cuda",
    "NVIDIA H200",
    16,
    1,
    "1234_7",
    Time(100),
    Time(200),
    WorkerState.ENDED,
    "preempted",
    0,
    12,
    2.5,
    0.5,
    Lost(3, 31.5, 0),
)
OVERVIEW = Overview(
    campaign="seven",
    uuid="7f85cd80-6e67-4bfa-953c-935345cdb430",
    problem="langford-7",
    method="polyphase",
    depth=8,
    seed=0,
    created=Time(90),
    finished=None,
    now=Time(250),
    tasks=Parts(10, 4, 2, 3, 1, 1),
    work=Parts(1.0, 0.4, 0.2, 0.3, 0.1, 0.1),
    speed=WorkRate(5.0, 4.0, 60.5, "points", 60.0),
    eta=Eta(100.0, Time(340), Time(380)),
    workers=(WORKER, replace(WORKER, state=WorkerState.WORKING, ending=None, device_model=None, slurm=None)),
    workers_by_state={"ended": {"cpu": 3, "cuda": 1}, "working": {"cuda": 1}},
    warnings=(Warned(WarningKind.SET_ASIDE, "1 task is set aside"),),
    timeline=((Time(100), 1), (Time(110), 2)),
    events=(Happened(Time(91), "created", ""),),
    attempts={"done": 4, "running": 2},
    checked=Checked(0.5, 2, 1, 1, 0),
    count=Total(10**30),
    agrees=None,
    lost={"preempted": Lost(2, 30.5, 4), "failed": Lost(1, 1.0, 0)},
    title="L(2,7)",
)


def test_an_overview_comes_back_from_its_document() -> None:
    document = json.loads(json.dumps(messages.document(OVERVIEW)))
    assert converted(document, Overview) == OVERVIEW
    assert document["count"] == str(10**30)
    assert document["workers"][0]["id"] == WORKER.worker_id
    bare = replace(
        OVERVIEW,
        eta=None,
        count=None,
        finished=Time(240),
        speed=WorkRate(None, None, None, "nodes", None),
        agrees=True,
    )
    assert converted(json.loads(json.dumps(messages.document(bare))), Overview) == bare


@pytest.mark.parametrize(("at", "shown"), [(1e9 + 0.9, "2001-09-09T01:46:40Z"), (1e30, "9999-12-31T23:59:59Z")])
def test_times_are_texts_in_utc(at: float, shown: str) -> None:
    assert iso(at) == shown
