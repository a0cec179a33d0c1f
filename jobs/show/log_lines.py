"""The lines of the server's log: each has a kind, what happened in words, and fields for programs, but no token.

They go to a logger of the standard library; whoever starts the server chooses how they are written.
"""

from __future__ import annotations

import logging
import socket
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from db import Campaign
from db.look.overview.records import ENDINGS, Overview, Presence, WorkerView
from db.messages import iso
from db.records import EventRecord
from db.states import EventKind, Outcome
from jobs.show.wording import LISTED, NAMED, WORDINGS, tasks_of
from langford.words import duration, now, percent, quantity, several

NAME = "langford.server"
LOGGER = logging.getLogger(NAME)
LOGGERS = (NAME, "uvicorn.error")
"""What the log of a server is made of."""


def line(event: str, message: str, campaign: str | None = None, *, alarm: bool = False, **fields: Any) -> None:
    """``campaign``: None: the line is about the server; ``fields``: the message, for programs."""
    LOGGER.log(logging.WARNING if alarm else logging.INFO, "%s", message, extra=extra(event, campaign, fields))


def extra(event: str, campaign: str | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"event": event, "campaign": campaign, "fields": dict(fields)}


# -- the server -------------------------------------------------------------------------------


def listening(listener: socket.socket, tls: bool, campaigns: Sequence[Campaign]) -> None:
    host, port = listener.getsockname()[:2]
    url = f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
    words = [f"{campaign.name} ({_done(campaign)})" for campaign in campaigns]
    names = [campaign.name for campaign in campaigns]
    line("listening", f"listening on {url} for {', '.join(words)}", url=url, campaigns=names)


def _done(campaign: Campaign) -> str:
    done = campaign.standing().tasks_done
    return f"{done:,} of {several(campaign.tasks, 'task')} done"


def stopped() -> None:
    line("stopped", "stopped: workers keep what they hold, and ask again")


def notice(event: str, message: str, campaign: str) -> None:
    line(event, message, campaign, alarm=event == "not_notified")


# -- events of the ledger ---------------------------------------------------------------------


def happened(campaign: str, kind: EventKind, events: Sequence[EventRecord]) -> None:
    wording = WORDINGS[kind]
    message = wording.one(events[0]) if len(events) == 1 else wording.many(events)
    fields = {"number": len(events), "tasks": tasks_of(events)[:LISTED], "detail": events[-1].detail}
    line(kind.replace("-", "_"), message, campaign, alarm=wording.alarm, **fields)


# -- workers ----------------------------------------------------------------------------------


def joined(campaign: str, workers: Sequence[WorkerView]) -> None:
    described = f"worker {_name(workers[0])} joined: {_machine(workers[0])}"
    _workers_line("worker_joined", campaign, workers, described, f"{len(workers):,} workers joined: ")


def left(campaign: str, workers: Sequence[WorkerView]) -> None:
    endings = Counter(worker.ending or "unknown" for worker in workers)
    how = ", ".join(f"{number:,} {ending}" for ending, number in endings.most_common())
    ending, unfinished = workers[0].ending or "", workers[0].preempted.count
    how_one = ENDINGS.get(ending, ending or "for an unknown reason")
    lost = f"; it did not finish {several(unfinished, 'task')}" if unfinished else ""
    described = f"worker {_name(workers[0])} left: {how_one}{lost}"
    _workers_line("worker_left", campaign, workers, described, f"{len(workers):,} workers left ({how}): ")


def silent(campaign: str, workers: Sequence[WorkerView]) -> None:
    described = f"worker {_name(workers[0])} is silent since {iso(workers[0].last_seen)}"
    _workers_line("worker_silent", campaign, workers, described, f"{len(workers):,} workers are silent: ", True)


def back(campaign: str, workers: Sequence[WorkerView]) -> None:
    described = f"worker {_name(workers[0])} is back"
    _workers_line("worker_back", campaign, workers, described, f"{len(workers):,} workers are back: ")


def expired(campaign: str, number: int) -> None:
    """Leases that are over, and whose tasks go to others."""
    leases = (
        "1 lease has expired: its task goes" if number == 1 else f"{number:,} leases have expired: their tasks go"
    )
    line("leases_expired", f"{leases} back to the queue", campaign, alarm=True, number=number)


def died(campaign: str, number: int) -> None:
    """Processes that died while they evaluated tasks, which go to other workers."""
    one, many = "process of a worker has died: its task goes", "processes of workers have died: their tasks go"
    line("processes_died", f"{several(number, one, many)} back to the queue", campaign, alarm=True, number=number)


def _workers_line(
    event: str, campaign: str, workers: Sequence[WorkerView], one: str, many: str, alarm: bool = False
) -> None:
    hosts = Counter(worker.host for worker in workers)
    named = ", ".join(f"{host} ({number:,})" for host, number in hosts.most_common(NAMED))
    more = f" and {len(hosts) - NAMED:,} more machines" if len(hosts) > NAMED else ""
    message = one if len(workers) == 1 else f"{many}{named}{more}"
    listed = [_worker_fields(worker) for worker in workers[:LISTED]]
    line(event, message, campaign, alarm=alarm, number=len(workers), workers=listed)


def _name(worker: WorkerView) -> str:
    return f"{worker.worker_id} on {worker.host}"


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


# -- progress ---------------------------------------------------------------------------------


def progress(overview: Overview) -> str:
    tasks, speed, eta = overview.tasks, overview.speed, overview.eta
    present = occupied(overview)
    words = [
        f"{percent(overview.work.done)} of the work",
        f"{tasks.done:,}/{several(tasks.total, 'task')}",
        several(present, "worker"),
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
        words.append(f"about {duration(eta.seconds)} left (until {iso(eta.earliest)} … {iso(eta.latest)})")
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
        workers=occupied(overview),
        speed=speed.now,
        speed_unit=speed.unit,
        tasks_per_minute=speed.tasks_per_minute_now,
        eta_seconds=None if eta is None else eta.seconds,
        eta_earliest=None if eta is None else iso(eta.earliest),
        eta_latest=None if eta is None else iso(eta.latest),
    )


def occupied(overview: Overview) -> int:
    return sum(worker.state is Presence.WORKING for worker in overview.workers)


def done(overview: Overview) -> None:
    checks = (
        f"; {several(overview.checked.replicated, 'result is', 'results are')} replicated"
        if overview.checked.drawn
        else ""
    )
    message = (
        f"done: {several(overview.tasks.done, 'task')}{checks}; `langford result {overview.campaign}` merges them"
    )
    line("done", message, overview.campaign, tasks=overview.tasks.done)


WORKER_LINES = {"joined": joined, "left": left, "silent": silent, "back": back}
"""The functions that log changes of workers, by the change."""
LOST_LINES = {Outcome.EXPIRED: expired, Outcome.DIED: died}
"""The functions that log attempts that were lost, by their outcome."""
