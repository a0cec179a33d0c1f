"""What a report says about the count: its checks, what they prove, and how to repeat all of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from db.files.promise import in_words
from db.states import EventKind
from jobs.show.report.document import Answers, Block, Commands, Grid, Paragraph, Points, Remark, capped
from jobs.show.report.gathering import Evidence
from jobs.show.report.origins import UNKNOWN
from langford.methods import METHODS
from langford.words import instant, number, several, share


def answer(evidence: Evidence) -> str:
    found = evidence.numbers
    if evidence.count is not None:
        return f"{evidence.count.published:,}"
    return f"{found.done:,} of {several(found.tasks, 'task is', 'tasks are')} done"


def _said(evidence: Evidence) -> str:
    """Who says that results were confirmed, where it is not the ledger itself."""
    return ", as the file says" if evidence.history.uuid is None else ""


def _no_count(evidence: Evidence) -> str:
    done = evidence.numbers.done == evidence.numbers.tasks
    return f"{'No count, although all tasks are done' if done else 'No count yet'}: {evidence.pending}."


def count(evidence: Evidence) -> Iterator[Block]:
    problem, found, compared = evidence.history.key.problem, evidence.count, evidence.agreement
    if found is None or compared is None:
        done = evidence.numbers.done == evidence.numbers.tasks
        yield Remark(_no_count(evidence), bad=True) if done else Paragraph(_no_count(evidence))
        return
    reversal = f", up to {problem.up_to}" if problem.up_to else ""
    yield Paragraph(
        f"{problem} = {found.published:,} arrangements{reversal}: {several(problem.n, 'colour')} of "
        f"{problem.copies} cubes on {problem.places} places. It is the sum of "
        f"{several(found.tasks, 'partial result')}, each an exact integer, over "
        f"{number(found.evaluated)} {METHODS[evidence.history.key.method].evaluated}."
    )
    if compared.agrees is False:
        yield Remark(f"The count cannot be right: it {compared.words}", bad=True)
    checks = [check[:1].upper() + check[1:] for check in found.checks]
    # What was drawn is among the checks.
    if evidence.promise is None or not evidence.promise.drawn:
        promise = in_words(evidence.promise)
        checks.append(f"{promise[:1].upper()}{promise[1:]}")
    yield Points([*(f"{check}." for check in checks), f"{compared.words[:1].upper()}{compared.words[1:]}."])
    yield Paragraph(_limits(evidence))


def _limits(evidence: Evidence) -> str:
    confirmed, tasks = evidence.numbers.confirmed, evidence.numbers.tasks
    proved = "These checks find accidents: a flipped bit, a task missing or counted twice, a damaged file."
    if confirmed:
        proved += (
            f" {several(confirmed, 'result was', 'results were')} computed again by another machine "
            f"({share(confirmed / tasks)}), with the same value{_said(evidence)}."
        )
    return (
        f"{proved} They do not find an error that every copy of a kernel has, or a worker that fabricates a "
        "consistent result. Recomputing finds these: a sample of the tasks, or the whole count by another "
        "method, as described under “How to reproduce”."
    )


def origins(evidence: Evidence) -> Iterator[Block]:
    if not evidence.origins:
        yield Paragraph("There are no results yet.")
        return
    kernels = {origin.kernels for origin in evidence.origins} - {UNKNOWN}
    if kernels == {evidence.kernels}:
        compared = "all of them by that of the program that made this report"
    else:
        others = "none of them" if evidence.kernels not in kernels else "one of them"
        compared = f"and {others} is that of the program that made this report, {evidence.kernels}"
    yield Paragraph(
        "The hash of the kernels is that of the code that takes part in counting by this method. The results "
        f"were computed by {several(len(kernels), 'known version')} of it, {compared}. A result by another version "
        "is not wrong for that reason."
    )
    rows: dict[tuple[str, str], int] = {}
    for origin in evidence.origins:
        versions = ", ".join(f"{name} {text}" for name, text in origin.versions) or UNKNOWN
        rows[origin.kernels, versions] = rows.get((origin.kernels, versions), 0) + origin.number
    cells = [[kernels, versions, f"{tasks:,}"] for (kernels, versions), tasks in rows.items()]
    yield Grid("Results by version", ["kernels", "computed with", "tasks"], capped(cells), numbers=1)
    files = [event for event in evidence.history.events or () if event.kind == EventKind.IMPORT]
    if files:
        imported = [[instant(event.at), event.detail] for event in files]
        yield Grid("Imported files, oldest first; times are UTC", ["time", "file"], capped(imported))


def commands(evidence: Evidence) -> Iterator[Block]:
    history, name = evidence.history, shlex.quote(evidence.history.name)
    key = history.key
    facts = {
        "problem": f"{key.problem} ({key.problem.name})",
        "method": key.method,
        "depth": str(key.depth),
        "seed": str(key.seed or ""),
        "tasks": f"{history.tasks:,}",
        "campaign": history.name,
        "its UUID": history.uuid,
        "read from": history.source,
    }
    yield Answers([(fact, value) for fact, value in facts.items() if value])
    yield Paragraph("The same tasks, computed again on this machine:")
    yield Commands([f"langford run {' '.join(key.arguments)}"])
    verify = f"langford verify {name} --sample 5%"
    if history.uuid is None:  # it was read from files
        files = " ".join(map(shlex.quote, history.source.split(", ")))
        yield Paragraph("The count from these files; then 5% of their tasks, drawn at random and recomputed:")
        yield Commands([f"langford result --from {files}", f"langford import {files}", verify])
    else:
        yield Paragraph("5% of the tasks, drawn at random and recomputed; all results as a file:")
        yield Commands([verify, f"langford export {name}"])
    yield Paragraph("The whole count by another sum, which shares no partial result with this one:")
    yield Commands([f"langford confirm {name}"])
