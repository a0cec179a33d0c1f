"""Overviews of campaigns in words and tables."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.cells import cell_len

from db.look.overview.records import Overview, WorkerState, WorkerView
from jobs.show.wording import (
    VERDICTS,
    in_a_line,
    is_late,
    left,
    notes,
    present,
    standstill,
    state_in_words,
)
from langford.cli.output.tables import Column, table
from langford.words import (
    about,
    clock,
    duration,
    now,
    percent,
    plain,
    quantity,
    rate,
    several,
    shortened,
)

SHOWN_EVENTS = 5


def lines_of(overviews: Sequence[Overview], width: int | None) -> list[str]:
    """A table of campaigns, and everything about the only one."""
    if not overviews:
        return ["no campaign yet: `langford run` or `langford create` makes one"]
    if len(overviews) == 1:
        return details(overviews[0], width)
    cells = [list(column) for column in zip(*map(_row, overviews), strict=True)]
    return table(
        [
            Column("campaign", cells[0]),
            Column("problem", cells[1], False, 9),
            Column("tasks", cells[2], True, 2),
            Column("done", cells[3], True, 4),
            Column("leased", cells[4], True, 5),
            Column("work", cells[5], True),
            Column("speed now", cells[6], True, 6),
            Column("left", cells[7], True, 1),
            Column("workers", cells[8], True, 3),
            Column("notes", cells[9], False, 7),
            Column("count", cells[10], True, 8),
        ],
        width,
    )


def _row(each: Overview) -> tuple[str, ...]:
    return (
        each.campaign,
        each.title,
        f"{each.tasks.total:,.0f}",
        f"{each.tasks.done:,.0f}",
        f"{each.tasks.leased:,.0f}",
        percent(each.work.done),
        _rate(each.speed.now, each.speed.unit),
        left(each),
        str(present(each)),
        notes(each),
        "" if each.count is None else f"{each.count:,}",
    )


def line_of(overview: Overview) -> str:
    return plain(f"{overview.campaign}: {in_a_line(overview)}")


def details(overview: Overview, width: int | None) -> list[str]:
    tasks, work = overview.tasks, overview.work
    states = {
        "leased": (tasks.leased, work.leased),
        "ready": (tasks.ready, work.ready),
        "set aside": (tasks.set_aside, work.set_aside),
        "to recheck": (tasks.recheck, work.recheck),
    }
    seed = f", seed {overview.seed}" if overview.seed else ""
    facts = {
        "work": ", ".join(
            [
                f"{percent(work.done)} done",
                *(f"{percent(share)} {name}" for name, (number, share) in states.items() if number),
            ]
        ),
        "tasks": ", ".join(
            [
                f"{tasks.done:,.0f} of {tasks.total:,.0f} done",
                *(f"{number:,.0f} {name}" for name, (number, _) in states.items() if number),
            ]
        ),
        "speed": _speeds(overview),
        "left": _until(overview),
        "workers": _workers(overview),
        "lost": _lost(overview),
        "checked": _checked(overview),
        "count": _count(overview),
    }
    lines = [f"{overview.campaign}: {overview.title} by {overview.method} at depth {overview.depth}{seed}"]
    lines += [f"  {name:<8} {text}" for name, text in facts.items() if text]
    lines += [f"  WARNING  {warned.text}" for warned in overview.warnings]
    lines = [part for line in lines for part in _wrapped(plain(line), width)]
    if overview.workers:
        lines += ["", *_worker_table(overview, width)]
    if overview.events:
        lines += ["", *_event_lines(overview, width)]
    return lines


def _event_lines(overview: Overview, width: int | None) -> list[str]:
    shown = overview.events[:SHOWN_EVENTS]
    longest = max(len(plain(event.kind)) for event in shown)
    lines = ["at                event"]
    for event in shown:
        text = f"{clock(event.at)}  {plain(event.kind):<{longest}}  {shortened(plain(event.text))}"
        lines += _wrapped(text.rstrip(), width)
    return lines


def _wrapped(line: str, width: int | None) -> list[str]:
    if width is None or cell_len(line) <= width:
        return [line]
    return textwrap.wrap(line, width, subsequent_indent=" " * 11, break_long_words=False, break_on_hyphens=False)


def _worker_table(overview: Overview, width: int | None) -> list[str]:
    workers = overview.workers
    lines = table(
        [
            Column("worker", [worker.worker_id for worker in workers]),
            Column("host", [worker.host for worker in workers]),
            Column("device", [worker.device_model or worker.device_kind for worker in workers], False, 4),
            Column("at once", [str(worker.processes or "") for worker in workers], True, 9),
            Column("SLURM", [worker.slurm or "" for worker in workers], False, 8),
            Column("state", [state_in_words(worker, overview.now) for worker in workers]),
            Column("seen", [duration(overview.now - worker.last_seen) for worker in workers], True, 1),
            Column("leased", [f"{worker.leased:,}" for worker in workers], True, 6),
            Column("done", [f"{worker.done:,}" for worker in workers], True, 2),
            Column("speed now", [_rate(worker.speed, overview.speed.unit) for worker in workers], True, 3),
            Column(
                "of peers",
                [_peers(worker.against_peers) for worker in workers],
                True,
                5,
            ),
            Column("lost", [_loss(worker) for worker in workers], True, 7),
        ],
        width,
    )
    more = f"and {overview.workers_left_out:,} more"
    return [*lines, more] if overview.workers_left_out else lines


def _peers(ratio: float | None) -> str:
    return "" if ratio is None else percent(ratio, 0)


def _rate(speed: float | None, unit: str) -> str:
    return "" if speed is None else rate(speed, unit)


def _speeds(overview: Overview) -> str:
    speed = overview.speed
    recent = now(speed.now, speed.unit, speed.seconds)
    average = "" if speed.average is None else f"{rate(speed.average, speed.unit)} since the start"
    a_minute = (
        "" if speed.tasks_per_minute_now is None else f"{quantity(speed.tasks_per_minute_now)} tasks a minute"
    )
    return ", ".join(text for text in (recent, a_minute, average) if text)


def _until(overview: Overview) -> str:
    if overview.finished is not None:
        return f"nothing: done {clock(overview.finished)}"
    if overview.eta is None:
        return ""
    spread = f"90% range: {clock(overview.eta.earliest)} to {clock(overview.eta.latest)}"
    return f"{about(overview.eta.seconds)} ({spread})"


def _workers(overview: Overview) -> str:
    late = [worker for worker in overview.workers if is_late(worker, overview.now)]
    numbers = {state: overview.workers_in(state) for state in WorkerState}
    for worker in late:
        numbers[worker.state] -= 1
    parts = [f"{numbers[state]:,} {state}" for state in WorkerState if numbers[state]]
    if late:
        longest = duration(max(overview.now - worker.last_seen for worker in late))
        parts.append(f"{len(late):,} not seen for {'up to ' if len(late) > 1 else ''}{longest}")
    shown = ", ".join(parts)
    if standstill(overview):
        left = f" ({shown})" if shown else ""
        return f"none{left}; continue with `langford run` on this ledger, or `langford work` with a server"
    return shown


def _checked(overview: Overview) -> str:
    checked = overview.checked
    replicated = f"{checked.replicated:,} of {checked.drawn:,} drawn results replicated" if checked.drawn else ""
    confirmed = several(checked.confirmed, "confirmation") if checked.confirmed else ""
    conflicts = f"{checked.conflicts:,} in conflict" if checked.conflicts else ""
    return ", ".join(text for text in (replicated, confirmed, conflicts) if text)


def _count(overview: Overview) -> str:
    if overview.count is None:
        return ""
    return f"{overview.count:,}, {VERDICTS[overview.agrees]}"


def _loss(worker: WorkerView) -> str:
    lost = worker.lost
    return f"{lost.attempts:,}, {duration(lost.seconds)}" if lost.attempts else ""


def _lost(overview: Overview) -> str:
    """Attempts that brought no result, and how they ended."""
    losses = overview.lost.values()
    attempts, unknown = sum(loss.attempts for loss in losses), sum(loss.unknown for loss in losses)
    seconds = sum(loss.seconds for loss in losses)
    ended = [f"{loss.attempts:,} {outcome}" for outcome, loss in sorted(overview.lost.items()) if loss.attempts]
    known = (
        f"{several(attempts, 'attempt')} of {duration(seconds)} in total: {', '.join(ended)}" if attempts else ""
    )
    silent = f"{several(unknown, 'attempt')} of which the worker reported nothing" if unknown else ""
    return "; ".join(filter(None, [known, silent]))
