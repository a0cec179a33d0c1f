"""What a report says about what went wrong: lost attempts, conflicts, distrust, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from db.states import EventKind, Outcome
from jobs.show.report.document import Block, Grid, Paragraph, Remark, capped
from jobs.show.report.gathering import Evidence
from langford.words import duration, instant, several, share

MEANING = {
    Outcome.PREEMPTED: "a signal took the worker",
    Outcome.EXPIRED: "no request of the worker arrived before the deadline",
    Outcome.RELEASED: "given back, or taken back by the operator",
    Outcome.FAILED: "the evaluation raised an error, or its result failed the checks",
    Outcome.DIED: "the process that evaluated it died, or was killed because it hung",
}
NAMED_EVENTS = {
    EventKind.CONFLICT: ("result that contradicts another", "results that contradict others"),
    EventKind.SETTLED: ("contradiction settled", "contradictions settled"),
    EventKind.DISTRUSTED: ("worker trusted no more", "workers trusted no more"),
    EventKind.QUESTIONED: ("time results were put in question", "times results were put in question"),
    EventKind.REFUSED: ("delivery refused", "deliveries refused"),
    EventKind.SET_ASIDE: ("task set aside", "tasks set aside"),
}
"""The kinds of events that a report lists: (one, several)."""
DISPUTES = {EventKind.CONFLICT, EventKind.SETTLED}


def summary(evidence: Evidence) -> str:
    history, aborted = evidence.history, evidence.numbers.aborted
    if not history.tells_losses:
        return "Not known: only accepted results are recorded."
    counts = history.event_counts
    parts = []
    if aborted:
        lost, effective = evidence.numbers.aborted_seconds, evidence.numbers.effective
        overhead = f" ({share(lost / effective)} of the effective time)" if effective else ""
        parts.append(f"{several(aborted, 'attempt')} lost{overhead}")
    parts += [several(counts[kind], *words) for kind, words in NAMED_EVENTS.items() if counts.get(kind)]
    return ", ".join(parts) + "." if parts else "Nothing: no attempt was lost, and no result was contradicted."


def blocks(evidence: Evidence) -> Iterator[Block]:
    yield Paragraph(summary(evidence))
    yield from (Remark(text, bad=True) for text in evidence.warnings)
    lost = evidence.numbers.lost
    if lost is None:
        return
    rows = [
        [
            *(kind.outcome, MEANING[kind.outcome]),
            *(f"{number:,}" for number in (kind.attempts, kind.unbegun, kind.unknown)),
            duration(kind.seconds),
        ]
        for kind in lost
        if kind.attempts or kind.unbegun or kind.unknown
    ]
    if rows:
        yield Paragraph(
            "Each of these tasks is leased again, so a count lacks nothing. The time is what workers "
            "reported: of one that was killed, up to its last renewal. Attempts that had not started cost nothing."
        )
        head = ["ended", "why", "started", "not started", "unknown", "time"]
        yield Grid("Attempts without a result", head, rows, numbers=4)
    if evidence.history.event_counts.get(EventKind.CONFLICT):
        yield _settled(evidence)
    # A liar causes a contradiction for each of its results: they must not hide what else there is.
    yield from _events(evidence, "Events", NAMED_EVENTS.keys() - DISPUTES)
    yield from _events(evidence, "Contradictions and how they were settled", DISPUTES)


def _events(evidence: Evidence, caption: str, kinds: Set[EventKind]) -> Iterator[Grid]:
    listed = [event for event in evidence.history.events or () if event.kind in kinds]
    if listed:
        rows = [
            [instant(event.at), event.kind, "" if event.task is None else str(event.task), event.detail]
            for event in listed
        ]
        head = ["time", "event", "task", "detail"]
        yield Grid(f"{caption}, oldest first; times are UTC", head, capped(rows))


def _settled(evidence: Evidence) -> Remark:
    counts = evidence.history.event_counts
    conflicts, settled = counts.get(EventKind.CONFLICT, 0), counts.get(EventKind.SETTLED, 0)
    words = f"Results contradicted each other {several(conflicts, 'time')}."
    if settled:
        words += f" Votes of independent workers, or the operator, have settled {several(settled, 'task')}."
    if evidence.history.conflicts:
        tasks = _named(evidence.history.conflicts)
        return Remark(f"{words} Still open: {tasks}. The count waits for a decision.", bad=True)
    return Remark(f"{words} None is open.", bad=False)


def _named(tasks: Sequence[int]) -> str:
    shown = ", ".join(map(str, tasks[:10]))
    return f"task {shown}" if len(tasks) == 1 else f"tasks {shown}{', …' if len(tasks) > 10 else ''}"
