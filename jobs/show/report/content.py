"""A report in the order in which it is read, and the paragraph with which a paper cites its count."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.show.report import losses, measured, participants, proof
from jobs.show.report.document import Document, Paragraph, Points, Section
from jobs.show.report.gathering import Evidence
from jobs.show.report.origins import UNKNOWN
from langford.problem.reference import cited
from langford.version import YEARS, __version__, source_address
from langford.words import duration, instant, several

MAX_DEVICES = 5
"""How many kinds of devices the paragraph names."""


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
    yield Section("The count", list(proof.count(evidence)))
    yield from measured.sections(evidence)
    yield Section("Who computed", list(participants.blocks(evidence)))
    yield Section("What went wrong", list(losses.blocks(evidence)))
    yield Section("Versions and kernels", list(proof.origins(evidence)))
    yield Section("How to reproduce", list(proof.commands(evidence)))
    yield Section("How to cite", [Paragraph(_citation(evidence))])
    if evidence.missing:
        missing = [f"{text[:1].upper()}{text[1:]}." for text in evidence.missing]
        yield Section("What is not known", [Points(missing)])


def paragraph(evidence: Evidence) -> str | None:
    """None where there is no count, or one that something contradicts."""
    if evidence.count is None or evidence.agreement is None or evidence.agreement.agrees is False:
        return None
    if not all(other.agrees for other in evidence.confirmations):
        return None
    return " ".join(_sentences(evidence))


def bibtex(evidence: Evidence) -> str:
    """The program in the version that counted, as CITATION.cff has it; the year of the latest of several."""
    versions = [version for version in _langford_versions(evidence) if version != UNKNOWN]
    years = [YEARS[version] for version in versions if version in YEARS]
    fields = {
        "title": "langford: a distributed system that counts Langford pairings exactly",
        "author": "{The langford authors}",
        **({"version": ", ".join(versions)} if versions else {}),
        "year": str(max(years, default=YEARS[__version__])),
        "howpublished": f"Computer program, kernels {', '.join(_kernels(evidence))}",
        **({"url": address} if (address := source_address()) else {}),
    }
    return "\n".join(["@software{langford,", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}"])


def _langford_versions(evidence: Evidence) -> list[str]:
    return sorted({dict(origin.versions).get("langford", UNKNOWN) for origin in evidence.origins})


def _kernels(evidence: Evidence) -> list[str]:
    return sorted({origin.kernels for origin in evidence.origins})


def _citation(evidence: Evidence) -> str:
    contradicted = next((other.words for other in evidence.confirmations if not other.agrees), "")
    reason = f"Do not cite this count: {contradicted}." if contradicted else "There is no count to cite."
    return paragraph(evidence) or reason


def _sentences(evidence: Evidence) -> Iterator[str]:
    history, count = evidence.history, evidence.count
    assert count is not None
    key = history.key
    reversal = f" up to {key.problem.up_to}" if key.problem.up_to else ""
    uuid = f", UUID {history.uuid}" if history.uuid else ""
    seed = f" with seed {key.seed}" if key.seed else ""
    yield (
        f"{key.problem} = {count.published:,}{reversal} was computed with langford {_versions(evidence)} (campaign "
        f"{history.name}{uuid}) by the method {key.method}{seed}, split at depth {key.depth} into "
        f"{several(history.tasks, 'task')}."
    )
    they = "It" if history.tasks == 1 else "They"
    yield f"{they} took {duration(evidence.numbers.effective)} of computing time on {_devices(evidence)}."
    yield f"Checks passed: {'; '.join(count.checks)}."
    yield from _confirmed(evidence)
    files = ", ".join(f"{name} (SHA-256 {digest})" for name, digest in evidence.exports)
    export = f"`langford export {history.name}` writes the partial results."
    yield f"The partial results are kept in {files}." if files else export


def _versions(evidence: Evidence) -> str:
    return f"{', '.join(_langford_versions(evidence))}, kernels {', '.join(_kernels(evidence))}"


def _devices(evidence: Evidence) -> str:
    tasks: dict[str, int] = {}
    for origin in evidence.origins:
        tasks[origin.device] = tasks.get(origin.device, 0) + origin.number
    named = sorted(tasks, key=lambda device: -tasks[device])[:MAX_DEVICES]
    devices = [f"{device} ({several(tasks[device], 'task')})" for device in named]
    if len(tasks) > MAX_DEVICES:
        devices.append(several(len(tasks) - MAX_DEVICES, "other kind"))
    hosts = f" of {several(len(evidence.hosts), 'host')}" if len(evidence.hosts) else ""
    return f"{', '.join(devices)}{hosts}"


def _confirmed(evidence: Evidence) -> Iterator[str]:
    compared, confirmed = evidence.agreement, evidence.numbers.confirmed
    if compared is not None and compared.published is not None:
        known = cited(compared.problem)
        yield f"The count is the published one{f' ({known})' if known else ''}."
    elif compared is not None and compared.standard_errors is not None:
        yield f"It is {compared.standard_errors:.1f} standard errors away from a random-walk estimate."
    if confirmed:
        yield f"{confirmed:,} of the {evidence.numbers.tasks:,} partial results were computed twice, independently."
    for other in evidence.confirmations:
        name, key = other.second
        seed = f" with seed {key.seed}" if key.seed else ""
        yield f"The campaign {name} gives the same count, using {key.method}{seed} at depth {key.depth}."
    if not evidence.confirmations:
        source = "This ledger records" if evidence.history.uuid else "This file records"
        yield f"{source} no second count."
