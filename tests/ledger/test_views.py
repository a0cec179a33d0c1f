"""The views of a ledger, row by row, against rows that were worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import insert, text

from db import Database
from db.schema.models import Attempt, Base, Campaign, Result, Task, Voter, Witness, Worker
from tests.support.databases import new_address

START = 1_800_000_000.0
"""2027-01-15T08:00:00Z"""


def at(seconds: float) -> str:
    """The time this number of seconds after the start, below one hour, in the format of the views."""
    minutes, rest = divmod(seconds, 60)
    return f"2027-01-15T08:{int(minutes):02}:{rest:06.3f}Z"


def attempt(
    number: int,
    task: int,
    worker: str,
    granted: float,
    began: float | None = None,
    ended: float | None = None,
    outcome: str | None = None,
    computed: float | None = None,
    campaign: int = 1,
) -> dict[str, Any]:
    """A row of the table of attempts; times from the start."""
    return {
        "id": number,
        "campaign_id": campaign,
        "task_index": task,
        "worker_id": worker,
        "granted": START + granted,
        "began": None if began is None else START + began,
        "deadline": START + granted + 120,
        "ended": None if ended is None else START + ended,
        "outcome": outcome,
        "computed": computed,
    }


def found(number: int, task: int, value: int, accepted: float, seconds: float, **more: Any) -> dict[str, Any]:
    """A row of the table of results, or of witnesses."""
    return {
        "campaign_id": 1,
        "task_index": task,
        "attempt_id": number,
        "value": str(value),
        "residue": "0",
        "evaluated": "0",
        "seconds": seconds,
        "provenance": "{}",
        "accepted": START + accepted,
        **more,
    }


def campaign(number: int, name: str) -> dict[str, Any]:
    """A row of the table of campaigns: what it counts is not asked here."""
    plan = {"problem": "langford-7", "method": "polyphase", "depth": 8}
    return {"id": number, "uuid": str(number), "name": name, **plan, "tasks": 7, "work": 1.0, "created": START}


ATTEMPTS = [
    attempt(1, 0, "a", granted=0, began=1.5, ended=11.5, outcome="done", computed=9),
    attempt(2, 1, "a", granted=0, ended=30, outcome="preempted", computed=18),
    attempt(3, 2, "a", granted=0, ended=30, outcome="preempted", computed=0),
    attempt(4, 1, "b", granted=40, began=41, ended=65, outcome="done", computed=20),
    attempt(5, 2, "b", granted=40, began=65, ended=160, outcome="expired", computed=40),  # its result came late
    attempt(6, 3, "b", granted=40, ended=160, outcome="expired", computed=90.5),
    attempt(7, 3, "c", granted=170, began=170, ended=185, outcome="done", computed=15),
    attempt(8, 0, "c", granted=170, began=185, ended=195, outcome="superseded", computed=9),
    attempt(9, 1, "c", granted=170, began=195, ended=199, outcome="superseded", computed=4),  # finds something else
    attempt(10, 4, "c", granted=200, computed=3),
    attempt(11, 6, "i", granted=300, ended=300, outcome="done", computed=5),
    attempt(12, 0, "c", granted=0, ended=7.25, outcome="released", campaign=2),
]
RESULTS = [
    found(1, 0, 2**70, accepted=11.5, seconds=9, voter_id=1, confirmed_by=3),
    found(4, 1, -5, accepted=65, seconds=20, voter_id=2, doubt="conflict"),
    found(5, 2, 7, accepted=179.5, seconds=40, voter_id=2),
    found(7, 3, 8, accepted=185, seconds=15, voter_id=3),
    found(11, 6, 9, accepted=300, seconds=5, voter_id=4),
]
WITNESSES = [
    found(8, 0, 2**70, accepted=195, seconds=9),
    found(9, 1, -6, accepted=199, seconds=4),
]
EQUIPMENT = {"cores": 8, "processes": 4, "device_model": "a chip", "slurm_job": "1234"}
WORKERS: list[dict[str, Any]] = [
    {"id": "a", "voter_id": 1, "last_seen": 29, "ended": 30, "ending": "preempted", "slurm_index": 7},
    {"id": "b", "voter_id": 2, "last_seen": 65, "ended": 160, "ending": "lost", "slurm_index": None},
    {"id": "c", "voter_id": 3, "last_seen": 200, "ended": None, "ending": None, "slurm_index": None},
    {"id": "i", "voter_id": 4, "last_seen": None, "ended": None, "ending": None, "slurm_index": None},
]
ROWS: dict[type[Base], list[dict[str, Any]]] = {
    Campaign: [campaign(1, "seven"), campaign(2, "other")],
    Task: [
        {
            "campaign_id": number,
            "task_index": index,
            "work": 10.0 + index,
            "state": {4: "leased", 5: "set-aside"}.get(index, "done" if number == 1 else "ready"),
            "failures": 3 if index == 5 else 0,
            "deaths": 1 if index == 5 else 0,
        }
        for number in (1, 2)
        for index in range(7)
    ],
    Voter: [
        {"id": 1, "kind": "worker", "host": "host-a", "distrusted": None},
        {"id": 2, "kind": "worker", "host": "host-b", "distrusted": None},
        {"id": 3, "kind": "worker", "host": "host-c", "distrusted": START + 200},
        {"id": 4, "kind": "import", "host": "host-i", "distrusted": None},
    ],
    Worker: [
        {
            "host": f"host-{worker['id']}",
            "process": "1",
            "started": START,
            "kernels": "feed",
            **(EQUIPMENT if worker["id"] == "a" else dict.fromkeys(EQUIPMENT)),
            **worker,
            **{name: None if worker[name] is None else START + worker[name] for name in ("last_seen", "ended")},
        }
        for worker in WORKERS
    ],
    Attempt: ATTEMPTS,
    Result: [{"confirmed_by": None, "doubt": None, **row} for row in RESULTS],
    Witness: WITNESSES,
}


@pytest.fixture(params=["sqlite", "postgres"], scope="module")
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    where = new_address(request.param, tmp_path_factory.mktemp("views"))
    with Database(where) as made:
        with made.writing() as connection:
            for table, rows in ROWS.items():
                connection.execute(insert(table), rows)
        yield made


def rows(database: Database, view: str, columns: str = "*", rest: str = "") -> list[tuple[Any, ...]]:
    """What a view shows, in an order of its own unless ``rest`` says one."""
    with database.reading() as connection:
        return [tuple(row) for row in connection.execute(text(f"SELECT {columns} FROM {view} {rest}"))]


OF_TASK = "campaign, task, state, work, failures, deaths, attempts, outcome, granted, began, ended, seconds, value"
OF_TASK += ", confirmed, doubt, worker, host, device_kind, device_model, slurm"
OF_WORKER = "worker, campaign, host, process, device_kind, device_model, cores, processes, kernels, slurm, started"
OF_WORKER += ", last_seen, ended, ending, distrusted, leased, done, released, preempted, expired, failed, died"
OF_WORKER += ", superseded, busy_seconds, lost_seconds, results, lost"
OF_RESULT = ("value", "at", "worker", "host", "device", "kernels")


def test_task_overview(database: Database) -> None:
    shown = rows(database, "task_overview", OF_TASK, "WHERE campaign = 'seven' ORDER BY task")
    a = ("a", "host-a", "cpu", "a chip", "1234_7")
    b, c, i = (("" + name, f"host-{name}", "cpu", None, None) for name in "bci")
    big = str(2**70)
    assert shown == [
        ("seven", 0, "done", 10.0, 0, 0, 2, "done", at(0), at(1.5), at(11.5), 9.0, big, 1, None, *a),
        ("seven", 1, "done", 11.0, 0, 0, 3, "done", at(40), at(41), at(65), 20.0, "-5", 0, "conflict", *b),
        ("seven", 2, "done", 12.0, 0, 0, 2, "expired", at(40), at(65), at(160), 40.0, "7", 0, None, *b),
        ("seven", 3, "done", 13.0, 0, 0, 2, "done", at(170), at(170), at(185), 15.0, "8", 0, None, *c),
        ("seven", 4, "leased", 14.0, 0, 0, 1, None, at(200), None, None, None, None, None, None, *c),
        ("seven", 5, "set-aside", 15.0, 3, 1, 0, *[None] * 13),
        ("seven", 6, "done", 16.0, 0, 0, 1, "done", at(300), None, at(300), 5.0, "9", 0, None, *i),
    ]
    [other] = rows(database, "task_overview", "task, outcome, worker", "WHERE campaign = 'other' AND attempts > 0")
    assert other == (0, "released", "c")


def test_worker_overview(database: Database) -> None:
    shown = rows(database, "worker_overview", OF_WORKER, "ORDER BY worker")
    numbers = {
        # leased, done, released, preempted, expired, failed, died, superseded, busy_seconds, lost_seconds, results,
        # lost: the second task of "a" had not begun; a late result of "b" loses nothing
        "a": (0, 1, 0, 2, 0, 0, 0, 0, 9.0, 18.0, 1, 1),
        "b": (0, 1, 0, 0, 2, 0, 0, 0, 20.0 + 40.0, 90.5, 2, 1),
        "c": (1, 1, 1, 0, 0, 0, 0, 2, 15.0 + 9.0 + 4.0, 0.0, 3, 0),
        "i": (0, 1, 0, 0, 0, 0, 0, 0, 5.0, 0.0, 1, 0),
    }
    assert [row[0] for row in shown] == list(numbers)
    assert {row[0]: row[15:] for row in shown} == numbers
    assert shown[0][:15] == (
        *("a", "seven", "host-a", "1", "cpu", "a chip", 8, 4, "feed", "1234_7"),
        *(at(0), at(29), at(30), "preempted", None),
    )
    assert shown[1][9:15] == (None, at(0), at(65), at(160), "lost", None)
    assert shown[2][10:15] == (at(0), at(200), None, None, at(200))
    assert {row[1] for row in shown if row[0] in "bi"} == {"seven"}
    assert shown[2][1] in ("seven", "other")


def test_throughput(database: Database) -> None:
    assert rows(database, "throughput", rest="ORDER BY minute") == [
        ("seven", at(0), 1, 10.0, 9.0),
        ("seven", at(60), 1, 11.0, 20.0),
        ("seven", at(120), 1, 12.0, 40.0),
        ("seven", at(180), 1, 13.0, 15.0),
    ]


def test_lost_time(database: Database) -> None:
    assert rows(database, "lost_time", rest="ORDER BY campaign, outcome") == [
        ("other", "released", 0, 0.0, None, at(7.25), at(7.25), 0, 1),
        ("seven", "expired", 1, 90.5, 90.5, at(160), at(160), 0, 0),
        ("seven", "preempted", 1, 18.0, 18.0, at(30), at(30), 1, 0),
    ]


def test_disagreements(database: Database) -> None:
    both = [f"{which}_{column}" for which in ("accepted", "other") for column in OF_RESULT]
    columns = ", ".join(["campaign", "task", "doubt", *both, "other_distrusted"])
    assert rows(database, "disagreements", columns) == [
        (
            *("seven", 1, "conflict"),
            *("-5", at(65), "b", "host-b", None, "feed"),
            *("-6", at(199), "c", "host-c", None, "feed", at(200)),
        )
    ]
