"""Statuses of campaigns as the task server says them, for pages to be looked at: none of them was computed."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

NOW = datetime.now(UTC).replace(microsecond=0)
HOSTILE = "<img src=x onerror=document.title='owned'>"


WARNINGS = {
    "silent_worker": "node-003.cluster.example.org has been silent for 32 min and holds 97 leases: they go to "
    "others at their deadline",
    "set_aside": "2 tasks failed three times and are set aside: `langford retry` tries them again",
    "distrusted": "node-007.cluster.example.org found another value than three others: its 412 results are "
    "evaluated again",
}
EVENTS = {
    "distrusted": "host node-007.cluster.example.org: its result of task 88,117 lost by 3 votes to 1",
    "conflict": "task 88,117: two values",
    "confirmed": "task 88,101 by another host",
    "set-aside": "task 12,002 after 3 failures: CheckFailed: the sum does not end in 11 zero bits",
    "created": "",
}


def iso(seconds_ago: float) -> str:
    return f"{NOW - timedelta(seconds=seconds_ago):%Y-%m-%dT%H:%M:%SZ}"


def parts(total: float, done: float, leased: float, set_aside: float = 0, recheck: float = 0) -> dict[str, float]:
    ready = total - done - leased - set_aside
    named = {"total": total, "done": done, "leased": leased, "ready": ready, "set_aside": set_aside}
    return named | {"recheck": recheck}


def worker(number: int, **fields: Any) -> dict[str, Any]:
    gpu = number % 9 == 4
    made = {
        "id": f"{number:08x}",
        "host": f"node-{number:03d}.cluster.example.org",
        "process": f"{40_000 + number}@17@9",
        "device_kind": "cuda" if gpu else "cpu",
        "device_model": "NVIDIA H200" if gpu else "AMD EPYC 9654 96-Core Processor",
        "cores": 16 if gpu else 96,
        "processes": 1 if gpu else 96,
        "slurm": f"81234_{number}" if number % 3 else None,
        "started": iso(90_000 - 60 * number),
        "last_seen": iso(number % 40),
        "state": "working",
        "ending": None,
        "leased": 4 if gpu else 97,
        "done": 3_000 + 37 * number,
        "speed": 5.2e9 if gpu else 7.4e8 + 1e6 * number,
        "against_peers": 1.02 - 0.003 * (number % 30),
        "lost": {"attempts": number % 4, "seconds": 811.0 * (number % 4), "unknown": 0},
    }
    return made | fields


def running(number: int = 200, **fields: Any) -> dict[str, Any]:
    """A large campaign in the middle, with something of everything."""
    ended = {"state": "ended", "leased": 0, "speed": None, "against_peers": None}
    crew = [worker(k) for k in range(number)]
    if number > 20:
        crew[3] |= {"state": "silent", "last_seen": iso(1_900), "speed": None}
        crew[7] |= {"state": "distrusted", "leased": 0}
        crew[11] |= ended | {"ending": "preempted", "last_seen": iso(5_000)}
        crew[12] |= ended | {"ending": "lost", "last_seen": iso(9_000)}
        crew[13] |= {"state": "idle", "leased": 0}
    shape = [max(0, round(number * (0.9 - 0.7 * math.exp(-k / 12)) + 14 * math.sin(k / 9))) for k in range(299)]
    status = {
        "campaign": "langford-31-shifted-20",
        "uuid": "7f85cd80-6e67-4bfa-953c-935345cdb430",
        "problem": "langford-31",
        "method": "shifted",
        "depth": 20,
        "seed": 0,
        "created": iso(172_800),
        "finished": None,
        "now": iso(0),
        "tasks": parts(1_048_576, 664_123, 18_904, 2, 311),
        "work": parts(1.0, 0.6381, 0.0191, 0.000002, 0.0003),
        "speed": {
            "now": 2.13e11,
            "average": 1.94e11,
            "tasks_per_minute_now": 231.4,
            "unit": "points",
            "seconds": 600.0,
        },
        "eta": {"seconds": 98_400.0, "earliest": iso(-91_000), "latest": iso(-112_000)},
        "workers": crew,
        "warnings": [{"kind": kind, "text": text} for kind, text in WARNINGS.items()],
        "timeline": [[iso(172_800 - 576 * k), occupied] for k, occupied in enumerate(shape)],
        "events": [
            {"at": iso(60 + 3_000 * k), "kind": kind, "text": text} for k, (kind, text) in enumerate(EVENTS.items())
        ],
        "attempts": {"done": 664_123, "running": 18_904, "preempted": 411},
        "checked": {"share": 0.02, "drawn": 13_301, "replicated": 12_990, "confirmed": 13_020, "conflicts": 0},
        "count": None,
        "agrees": None,
        "title": "L(2,31)",
    }
    return counted(status | fields)


def counted(status: dict[str, Any]) -> dict[str, Any]:
    """A status with the numbers of the workers that it lists."""
    numbers: dict[str, dict[str, int]] = {}
    for each in status["workers"]:
        of_state = numbers.setdefault(each["state"], {})
        of_state[each["device_kind"]] = of_state.get(each["device_kind"], 0) + 1
    return {"workers_by_state": numbers, **status}


def hostile() -> dict[str, Any]:
    """A campaign whose workers try to become part of the page, and to tear it apart."""
    names = [HOSTILE, "x" * 255, "</td></tr></table><script>document.title='owned'</script>", "\u202eevil", "&amp;"]
    crew = [
        worker(k, host=host, device_model=host, slurm=host, id=host, ending=host) for k, host in enumerate(names)
    ]
    return running(
        0,
        campaign="hostile",
        workers=crew,
        warnings=[{"kind": "conflict", "text": text} for text in names],
        events=[{"at": iso(k), "kind": "refused", "text": text} for k, text in enumerate(names)],
        problem=HOSTILE,
        title=HOSTILE,
    )
