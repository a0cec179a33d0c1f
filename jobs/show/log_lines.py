"""The lines of the server's log: each has a kind, what happened in words, and fields for programs, but no token.

They go to a logger of the standard library; whoever starts the server chooses how they are written.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from db import Campaign
from db.look.overview.records import ENDINGS, Overview, Warned, WorkerView
from db.messages import iso
from db.records import EventRecord
from db.states import EventKind, Outcome
from jobs.show.wording import LISTED, NAMED, WORDINGS, at_work, tasks_of
from langford.words import about, now, percent, quantity, several, some

NAME = "langford.server"
LOGGER = logging.getLogger(NAME)
LOGGERS = ("langford", "uvicorn.error")
"""What the log of a server is made of."""


def line(event: str, message: str, campaign: str | None = None, *, alarm: bool = False, **fields: Any) -> None:
    """``campaign``: None: the line is about the server; ``fields``: the message, for programs."""
    LOGGER.log(logging.WARNING if alarm else logging.INFO, "%s", message, extra=extra(event, campaign, fields))


def extra(event: str, campaign: str | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"event": event, "campaign": campaign, "fields": dict(fields)}


# -- the server -------------------------------------------------------------------------------


def listening(address: str, campaigns: Sequence[Campaign]) -> None:
    words = [f"{campaign.name} ({_done(campaign)})" for campaign in campaigns]
    names = [campaign.name for campaign in campaigns]
    line("listening", f"listening on {address} for {', '.join(words)}", url=address, campaigns=names)


def worker_needs(command: str) -> None:
    line("worker_needs", f"start workers with: {command}", command=command)


def _done(campaign: Campaign) -> str:
    done = campaign.reader.standing().tasks_done
    return f"{done:,} of {several(campaign.tasks, 'task')} done"


def stopped() -> None:
    line("stopped", "stopped: workers keep what they hold, and ask again")


def warned(campaign: str, warning: Warned) -> None:
    line(warning.kind, warning.text, campaign, alarm=True)


def notice(event: str, message: str, campaign: str) -> None:
    line(event, message, campaign, alarm=event == "not_notified")


# -- events of the ledger ---------------------------------------------------------------------


def happened(campaign: str, kind: EventKind, events: Sequence[EventRecord]) -> None:
    wording = WORDINGS[kind]
    message = wording.one(events[0]) if len(events) == 1 else wording.many(events)
    fields = {"number": len(events), "tasks": tasks_of(events)[:LISTED], "detail": events[-1].detail}
    line(kind.replace("-", "_"), message, campaign, alarm=wording.alarm, **fields)


# -- workers ----------------------------------------------------------------------------------


def changed(campaign: str, change: str, workers: Sequence[WorkerView]) -> None:
    """``change``: one of CHANGES."""
    one, many = CHANGES[change]
    hosts = Counter(worker.host for worker in workers)
    named = [f"{host} ({number:,})" for host, number in hosts.most_common()]
    message = f"{len(workers):,} workers {many(workers)}: {some(named, NAMED, 'machine')}"
    if len(workers) == 1:
        message = f"worker {workers[0].worker_id} on {workers[0].host} {one(workers[0])}"
    listed = [_worker_fields(worker) for worker in workers[:LISTED]]
    silent = change == "silent"
    line(f"worker_{change}", message, campaign, alarm=silent, number=len(workers), workers=listed)


def _one_left(worker: WorkerView) -> str:
    ending, unfinished = worker.ending or "", worker.lost.attempts
    how = ENDINGS.get(ending, ending or "for an unknown reason")
    return f"left: {how}" + (f"; it did not finish {several(unfinished, 'task')}" if unfinished else "")


def _many_left(workers: Sequence[WorkerView]) -> str:
    endings = Counter(worker.ending or "unknown" for worker in workers)
    return f"left ({', '.join(f'{number:,} {ending}' for ending, number in endings.most_common())})"


def _machine(worker: WorkerView) -> str:
    processes = several(worker.processes, "process", "processes") if worker.processes else ""
    job = f"SLURM job {worker.slurm}" if worker.slurm else ""
    return ", ".join(filter(None, [worker.device_model or worker.device_kind, processes, job]))


def _worker_fields(worker: WorkerView) -> dict[str, Any]:
    return {
        "id": worker.worker_id,
        "host": worker.host,
        "device": worker.device_model or worker.device_kind,
        "slurm": worker.slurm,
        "ending": worker.ending,
        "last_seen": iso(worker.last_seen),
    }


CHANGES: Mapping[str, tuple[Callable[[WorkerView], str], Callable[[Sequence[WorkerView]], str]]] = {
    "joined": (lambda worker: f"joined: {_machine(worker)}", lambda workers: "joined"),
    "back": (lambda worker: "is back", lambda workers: "are back"),
    "silent": (lambda worker: f"is silent since {iso(worker.last_seen)}", lambda workers: "are silent"),
    "left": (_one_left, _many_left),
}
"""What becomes of workers, in words: of one, of many.  In the order in which it happens to one."""


def lost(campaign: str, outcome: Outcome, numbers: Sequence[int]) -> None:
    """Attempts that ended without a result; ``outcome``: one of LOSSES, ``numbers``: how many, in parts."""
    number, (event, one, many) = sum(numbers), LOSSES[outcome]
    goes = "its task goes" if number == 1 else "their tasks go"
    line(event, f"{several(number, one, many)}: {goes} back to the queue", campaign, alarm=True, number=number)


LOSSES = {
    Outcome.EXPIRED: ("leases_expired", "lease has expired", "leases have expired"),
    Outcome.DIED: ("processes_died", "process of a worker has died", "processes of workers have died"),
}


# -- progress ---------------------------------------------------------------------------------


def progress(overview: Overview) -> str:
    tasks, speed, eta = overview.tasks, overview.speed, overview.eta
    words = [
        f"{percent(overview.work.done)} of the work",
        f"{tasks.done:,}/{several(tasks.total, 'task')}",
        several(at_work(overview), "worker"),
    ]
    if tasks.set_aside:
        words.append(f"{tasks.set_aside:,} set aside")
    if tasks.recheck:
        words.append(f"{tasks.recheck:,} to evaluate again")
    if speed.now is not None:
        words.append(now(speed.now, speed.unit))
    if speed.tasks_per_minute_now is not None:
        words.append(f"{quantity(speed.tasks_per_minute_now)} tasks/min")
    if eta is not None:
        words.append(f"{about(eta.seconds)} left (until {iso(eta.earliest)} … {iso(eta.latest)})")
    return ", ".join(words)


def going(overview: Overview) -> None:
    """The line of every minute."""
    speed, eta = overview.speed, overview.eta
    line(
        "progress",
        progress(overview),
        overview.campaign,
        tasks=asdict(overview.tasks),
        work=asdict(overview.work),
        workers=at_work(overview),
        speed=speed.now,
        speed_unit=speed.unit,
        tasks_per_minute=speed.tasks_per_minute_now,
        eta_seconds=None if eta is None else eta.seconds,
        eta_earliest=None if eta is None else iso(eta.earliest),
        eta_latest=None if eta is None else iso(eta.latest),
    )


def done(overview: Overview) -> None:
    checks = (
        f"; {several(overview.checked.replicated, 'result is', 'results are')} replicated"
        if overview.checked.drawn
        else ""
    )
    next_step = f"`langford result {overview.campaign}` prints the count"
    message = f"done: {several(overview.tasks.done, 'task')}{checks}; {next_step}"
    line("done", message, overview.campaign, tasks=overview.tasks.done)
