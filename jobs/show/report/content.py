"""A report in the order in which it is read: first the five questions, then each answer at length."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.show.report import citation, losses, measured, participants, proof
from jobs.show.report.document import Document, Facts, Points, Section
from jobs.show.report.evidence.gathering import Evidence
from langford.speed import of_computation, since_the_start
from langford.version import __version__
from langford.words import duration, instant, number, several, share


def document(evidence: Evidence) -> Document:
    history = evidence.history
    return Document(
        title=str(history.key.problem),
        subtitle=f"campaign {history.name}: {history.key}",
        answer=proof.answer(evidence),
        sections=list(_sections(evidence)),
        made=f"Made at {instant(history.now)} UTC by langford {__version__} from {history.source}.",
    )


def _sections(evidence: Evidence) -> Iterator[Section]:
    yield Section("At a glance", [Facts(list(_glance(evidence)))])
    yield proof.count_section(evidence)
    yield from measured.sections(evidence)
    yield from participants.sections(evidence)
    yield from losses.sections(evidence)
    yield proof.origin_section(evidence)
    yield proof.repeat_section(evidence)
    yield citation.section(evidence)
    if evidence.missing:
        missing = [f"{text[:1].upper()}{text[1:]}." for text in evidence.missing]
        yield Section("What this report does not know", [Points(missing)])


def _glance(evidence: Evidence) -> Iterator[tuple[str, str]]:
    yield "What is proved?", proof.verdict(evidence)
    yield "How fast?", _speed(evidence)
    yield "Until when?", _until(evidence)
    yield "Who worked?", participants.summary(evidence) or "Nobody yet."
    yield "What went wrong?", losses.summary(evidence)


def _speed(evidence: Evidence) -> str:
    found, unit = evidence.numbers, evidence.unit
    if found.times is None:
        return "No task is done yet."
    speeds = of_computation(evidence.of_computation, unit), since_the_start(evidence.since_the_start, unit)
    mean = f"{duration(found.times.mean)} per task, ± {share(found.times.relative)}"
    each = "; ".join([mean, *filter(None, [", ".join(filter(None, speeds))])])
    together = f"{duration(found.effective)} of computing time"
    if found.elapsed is None or not found.occupancy or not found.hourly:
        return f"{each}; {together}."
    pace = f"{number(found.occupancy)} devices at once on average, {number(found.hourly)} tasks per hour"
    if found.timed < found.done:
        return (
            f"{each}; {together}. The {found.timed:,} tasks whose times are known took {duration(found.elapsed)}: "
            f"{pace}."
        )
    return f"{each}; {together} in {duration(found.elapsed)}: {pace}."


def _until(evidence: Evidence) -> str:
    found = evidence.numbers
    if found.began is None or found.ended is None:
        return "Not known." if evidence.history.attempts is None else "Nothing has been computed yet."
    span = f"From {instant(found.began)} to {instant(found.ended)} UTC"
    if found.done == found.tasks:
        return f"{span}; all tasks are done."
    return (
        f"{span}; {several(found.tasks - found.done, 'task is', 'tasks are')} not done. {evidence.forecast}".strip()
    )
