"""An overview as JSON, and back: what a task server answers to ``GET /campaigns/NAME/status``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, TypeVar

from db.files.fields import BadMessage, exactly, integer, real, text
from db.look.overview.records import (
    Checked,
    Eta,
    Happened,
    Overview,
    Parts,
    Preempted,
    Presence,
    Speed,
    Warned,
    WarningKind,
    WorkerView,
)

MOST_WORKERS, MOST_ENTRIES = 100_000, 10_000
LATEST = 253_402_300_799.0
"""The last second of the year 9999: no later time can be written."""
T = TypeVar("T")


def iso(at: float) -> str:
    """A time in seconds since 1970 as a text.

    >>> iso(0.0)
    '1970-01-01T00:00:00Z'
    """
    return f"{datetime.fromtimestamp(min(max(at, 0.0), LATEST), UTC):%Y-%m-%dT%H:%M:%S}Z"


def to_document(overview: Overview) -> dict[str, Any]:
    """The overview as JSON.  Times are texts in UTC; so is the count, which exceeds what readers keep exactly."""
    tasks, eta = asdict(overview.tasks), overview.eta
    return {
        "campaign": overview.campaign,
        "uuid": overview.uuid,
        "problem": overview.problem,
        "method": overview.method,
        "depth": overview.depth,
        "seed": overview.seed,
        "created": iso(overview.created),
        "finished": _perhaps(iso, overview.finished),
        "now": iso(overview.now),
        "tasks": {name: int(number) for name, number in tasks.items()},
        "work": asdict(overview.work),
        "speed": asdict(overview.speed),
        "eta": eta and {"seconds": eta.seconds, "earliest": iso(eta.earliest), "latest": iso(eta.latest)},
        "workers": [_worker_document(worker) for worker in overview.workers],
        "workers_left_out": overview.workers_left_out,
        "warnings": [{"kind": warned.kind.value, "text": warned.text} for warned in overview.warnings],
        "timeline": [[iso(at), occupied] for at, occupied in overview.timeline],
        "events": [{"at": iso(event.at), "kind": event.kind, "text": event.text} for event in overview.events],
        "attempts": overview.attempts,
        "checked": asdict(overview.checked),
        "count": _perhaps(str, overview.count),
        "agrees": overview.agrees,
    }


def _worker_document(worker: WorkerView) -> dict[str, Any]:
    fields = asdict(worker)
    fields["id"] = fields.pop("worker_id")
    return fields | {
        "started": iso(worker.started),
        "last_seen": iso(worker.last_seen),
        "state": worker.state.value,
    }


def of_document(document: Any) -> Overview:
    """The inverse of :func:`to_document`, to the second; raises BadMessage."""
    fields = exactly(document, *Overview.__dataclass_fields__)
    return Overview(
        campaign=text(fields["campaign"]),
        uuid=text(fields["uuid"]),
        problem=text(fields["problem"]),
        method=text(fields["method"]),
        depth=integer(fields["depth"]),
        seed=integer(fields["seed"]),
        created=_time(fields["created"]),
        finished=_perhaps(_time, fields["finished"]),
        now=_time(fields["now"]),
        tasks=_parts(fields["tasks"], integer),
        work=_parts(fields["work"], real),
        speed=_speed(fields["speed"]),
        eta=_perhaps(_eta, fields["eta"]),
        workers=tuple(map(_worker, _several(fields["workers"], MOST_WORKERS))),
        workers_left_out=integer(fields["workers_left_out"]),
        warnings=tuple(map(_warned, _several(fields["warnings"]))),
        timeline=tuple(map(_point, _several(fields["timeline"]))),
        events=tuple(map(_event, _several(fields["events"]))),
        attempts={text(name): integer(number) for name, number in _named(fields["attempts"]).items()},
        checked=_checked(fields["checked"]),
        count=_perhaps(_count, fields["count"]),
        agrees=_perhaps(_yes_or_no, fields["agrees"]),
    )


def _perhaps(read: Callable[[Any], T], value: Any) -> T | None:
    return None if value is None else read(value)


def _several(values: Any, most: int = MOST_ENTRIES) -> list[Any]:
    if not isinstance(values, list) or len(values) > most:
        raise BadMessage(f"expected a list of at most {most} entries")
    return values


def _named(values: Any) -> dict[Any, Any]:
    if not isinstance(values, dict):
        raise BadMessage("expected an object")
    return values


def _time(value: Any) -> float:
    try:
        return datetime.fromisoformat(text(value, 40)).timestamp()
    except (ValueError, OverflowError) as error:
        raise BadMessage(f"expected a time, not {value!r:.60}") from error


def _count(value: Any) -> int:
    digits = text(value, 1_000)
    if not (digits.isascii() and digits.isdecimal()):
        raise BadMessage(f"expected a count, not {value!r:.60}")
    return int(digits)


def _yes_or_no(value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadMessage(f"expected true or false, not {value!r:.60}")
    return value


def _one_of(kind: Callable[[Any], T], value: Any) -> T:
    try:
        return kind(value)
    except ValueError as error:
        raise BadMessage(f"{error}: use the server's version of langford") from error


def _parts(document: Any, number: Callable[[Any], float]) -> Parts:
    fields = exactly(document, *Parts.__dataclass_fields__)
    return Parts(**{name: number(value) for name, value in fields.items()})


def _speed(document: Any) -> Speed:
    fields = exactly(document, *Speed.__dataclass_fields__)
    numbers = {name: _perhaps(real, value) for name, value in fields.items() if name != "unit"}
    return Speed(unit=text(fields["unit"]), **numbers)


def _eta(document: Any) -> Eta:
    fields = exactly(document, *Eta.__dataclass_fields__)
    return Eta(real(fields["seconds"]), _time(fields["earliest"]), _time(fields["latest"]))


def _worker(document: Any) -> WorkerView:
    names = ["id", *(name for name in WorkerView.__dataclass_fields__ if name != "worker_id")]
    fields = exactly(document, *names)
    preempted = exactly(fields["preempted"], *Preempted.__dataclass_fields__)
    return WorkerView(
        worker_id=text(fields["id"]),
        host=text(fields["host"]),
        process=text(fields["process"]),
        device_kind=text(fields["device_kind"]),
        device_model=_perhaps(text, fields["device_model"]),
        cores=_perhaps(integer, fields["cores"]),
        processes=_perhaps(integer, fields["processes"]),
        slurm=_perhaps(text, fields["slurm"]),
        started=_time(fields["started"]),
        last_seen=_time(fields["last_seen"]),
        state=_one_of(Presence, fields["state"]),
        ending=_perhaps(text, fields["ending"]),
        leased=integer(fields["leased"]),
        done=integer(fields["done"]),
        speed=_perhaps(real, fields["speed"]),
        against_peers=_perhaps(real, fields["against_peers"]),
        preempted=Preempted(integer(preempted["count"]), real(preempted["seconds_lost"])),
    )


def _warned(document: Any) -> Warned:
    fields = exactly(document, "kind", "text")
    return Warned(_one_of(WarningKind, fields["kind"]), text(fields["text"]))


def _point(value: Any) -> tuple[float, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise BadMessage("expected pairs of a time and a number of workers")
    return _time(value[0]), integer(value[1])


def _event(document: Any) -> Happened:
    fields = exactly(document, "at", "kind", "text")
    return Happened(_time(fields["at"]), text(fields["kind"]), text(fields["text"], 100_000))


def _checked(document: Any) -> Checked:
    fields = exactly(document, *Checked.__dataclass_fields__)
    numbers = {name: integer(value) for name, value in fields.items() if name != "share"}
    return Checked(share=real(fields["share"]), **numbers)
