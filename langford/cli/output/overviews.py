"""Overviews of campaigns in words and tables."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence

from rich.cells import cell_len

from db.look.overview import Overview, Presence, WorkerView
from jobs.show.wording import standstill, state_in_words
from langford.cli.output.rows.columns import Column, table
from langford.plain import plain, shortened
from langford.speed import now, since_the_start
from langford.words import clock, coarse_duration, duration, percent, quantity, rate, several

SHOWN_EVENTS = 5


def lines_of(overviews: Sequence[Overview], width: int | None) -> list[str]:
    """A table of campaigns, and everything about the only one."""
    if not overviews:
        return ["no campaign yet: `langford run` or `langford create` makes one"]
    if len(overviews) == 1:
        return details(overviews[0], width)
    rows = [
        Column("campaign", [each.campaign for each in overviews]),
        Column("problem", [each.problem for each in overviews], False, 9),
        Column("tasks", [f"{each.tasks.total:,.0f}" for each in overviews], True, 2),
        Column("done", [f"{each.tasks.done:,.0f}" for each in overviews], True, 4),
        Column("leased", [f"{each.tasks.leased:,.0f}" for each in overviews], True, 5),
        Column("work", [percent(each.work.done) for each in overviews], True),
        Column("speed now", [_rate(each.speed.now, each.speed.unit) for each in overviews], True, 6),
        Column("left", [_left(each) for each in overviews], True, 1),
        Column("workers", [str(len(_present(each))) for each in overviews], True, 3),
        Column("notes", [_notes(each) for each in overviews], False, 7),
        Column("count", ["" if each.count is None else f"{each.count:,}" for each in overviews], True, 8),
    ]
    return table(rows, width)


def line_of(overview: Overview) -> str:
    """One line about a campaign, as a log takes it."""
    parts = [
        f"{percent(overview.work.done)} of the work",
        f"{overview.tasks.done:,.0f}/{several(overview.tasks.total, 'task')}",
        now(overview.speed.now, overview.speed.unit),
        "done" if overview.finished else "" if overview.eta is None else f"{_left(overview)} left",
        several(len(_present(overview)), "worker"),
        _notes(overview),
    ]
    return plain(f"{overview.campaign}: {', '.join(part for part in parts if part)}")


def details(overview: Overview, width: int | None) -> list[str]:
    """Everything about one campaign."""
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
        "checked": _checked(overview),
        "count": _count(overview),
    }
    lines = [f"{overview.campaign}: {overview.problem} by {overview.method} at depth {overview.depth}{seed}"]
    lines += [f"  {name:<8} {text}" for name, text in facts.items() if text]
    lines += [f"  WARNING  {warned.text}" for warned in overview.warnings]
    lines = [part for line in lines for part in _wrapped(plain(line), width)]
    if overview.workers:
        lines += ["", *_worker_table(overview, width)]
    if overview.events:
        lines += ["", *_event_lines(overview, width)]
    return lines


def _event_lines(overview: Overview, width: int | None) -> list[str]:
    """The last events, each with its words, which may take several lines."""
    shown = overview.events[:SHOWN_EVENTS]
    longest = max(len(plain(event.kind)) for event in shown)
    lines = ["at                event"]
    for event in shown:
        text = f"{clock(event.at)}  {plain(event.kind):<{longest}}  {shortened(plain(event.text))}"
        lines += _wrapped(text.rstrip(), width)
    return lines


def _wrapped(line: str, width: int | None) -> list[str]:
    """The lines of a text on a terminal; words and names are not broken."""
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
            Column("seen", [coarse_duration(overview.now - worker.last_seen) for worker in workers], True, 1),
            Column("leased", [f"{worker.leased:,}" for worker in workers], True, 6),
            Column("done", [f"{worker.done:,}" for worker in workers], True, 2),
            Column("speed now", [_rate(worker.speed, overview.speed.unit) for worker in workers], True, 3),
            Column(
                "of peers",
                [_peers(worker.against_peers) for worker in workers],
                True,
                5,
            ),
            Column("preempted", [_preempted(worker) for worker in workers], True, 7),
        ],
        width,
    )
    more = f"and {overview.workers_left_out:,} more that left"
    return [*lines, more] if overview.workers_left_out else lines


def _peers(ratio: float | None) -> str:
    return "" if ratio is None else percent(ratio, 0)


def _rate(speed: float | None, unit: str) -> str:
    return "" if speed is None else rate(speed, unit)


def _present(overview: Overview) -> list[WorkerView]:
    return [worker for worker in overview.workers if worker.state in (Presence.WORKING, Presence.IDLE)]


def _speeds(overview: Overview) -> str:
    speed = overview.speed
    recent, average = now(speed.now, speed.unit, speed.seconds), since_the_start(speed.average, speed.unit)
    a_minute = (
        "" if speed.tasks_per_minute_now is None else f"{quantity(speed.tasks_per_minute_now)} tasks a minute"
    )
    return ", ".join(text for text in (recent, a_minute, average) if text)


def _left(overview: Overview) -> str:
    if overview.finished is not None:
        return "done"
    return "" if overview.eta is None else duration(overview.eta.seconds)


def _until(overview: Overview) -> str:
    if overview.finished is not None:
        return f"nothing: done {clock(overview.finished)}"
    if overview.eta is None:
        return ""
    spread = f"between {clock(overview.eta.earliest)} and {clock(overview.eta.latest)}"
    return f"{duration(overview.eta.seconds)}; nine times out of ten done {spread}"


def _workers(overview: Overview) -> str:
    numbers = Counter(worker.state for worker in overview.workers)
    numbers[Presence.ENDED] += overview.workers_left_out
    parts = [f"{numbers[state]:,} {state}" for state in Presence if numbers[state]]
    if standstill(overview):
        parts.append("none now: continue with `langford run` on this ledger, or `langford work` with a server")
    return ", ".join(parts)


def _checked(overview: Overview) -> str:
    checked = overview.checked
    replicated = f"{checked.replicated:,} of {checked.drawn:,} drawn results replicated" if checked.drawn else ""
    confirmed = several(checked.confirmed, "confirmation") if checked.confirmed else ""
    conflicts = f"{checked.conflicts:,} in conflict" if checked.conflicts else ""
    return ", ".join(text for text in (replicated, confirmed, conflicts) if text)


def _count(overview: Overview) -> str:
    if overview.count is None:
        return ""
    verdicts = {True: ", as published", False: ", NOT as published", None: ", nothing is published"}
    return f"{overview.count:,}{verdicts[overview.agrees]}"


def _notes(overview: Overview) -> str:
    """What an operator should look at, in a few words."""
    warnings, still = len(overview.warnings), standstill(overview)
    notes = {
        "set aside": overview.tasks.set_aside,
        "in conflict": overview.checked.conflicts,
        "to recheck": overview.tasks.recheck,
        "warning" if warnings == 1 else "warnings": warnings,
    }
    wrong = "NOT as published" if overview.agrees is False else ""
    numbers = [f"{number:,} {label}" for label, number in notes.items() if number]
    return ", ".join(filter(None, [wrong, still, *numbers]))


def _preempted(worker: WorkerView) -> str:
    lost = worker.preempted
    return f"{lost.count:,}, {coarse_duration(lost.seconds_lost)}" if lost.count else ""
