"""What a paper says of a count: one paragraph, with all that a reader needs in order to check it."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.show.report.document import Paragraph, Section
from jobs.show.report.evidence.gathering import Evidence
from jobs.show.report.evidence.origins import UNKNOWN
from langford.reference import cited
from langford.version import __version__
from langford.words import duration, several

BIBTEX = f"""@software{{langford,
  title = {{langford: a distributed system that counts Langford pairings exactly}},
  author = {{{{The langford authors}}}},
  version = {{{__version__}}},
  year = {{2026}},
}}"""
"""The program, as CITATION.cff has it."""
MAX_DEVICES = 5
"""How many kinds of devices the paragraph names."""


def paragraph(evidence: Evidence) -> str | None:
    """None where there is no count, or one that something contradicts."""
    if evidence.count is None or evidence.agreement is None or evidence.agreement.agrees is False:
        return None
    if not all(other.agrees for other in evidence.confirmations):
        return None
    return " ".join(_sentences(evidence))


def section(evidence: Evidence) -> Section:
    contradicted = next((other.words for other in evidence.confirmations if not other.agrees), "")
    reason = f"This count is not to be cited: {contradicted}." if contradicted else "There is no count to cite."
    return Section("How to cite", [Paragraph(paragraph(evidence) or reason)])


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
    yield f"These took {duration(evidence.numbers.effective)} of computing time on {_devices(evidence)}."
    yield f"Checks passed: {'; '.join(count.checks)}."
    yield from _confirmed(evidence)
    files = ", ".join(f"{name} (SHA-256 {digest})" for name, digest in evidence.exports)
    yield f"The partial results are kept in {files or f'the export of {history.name}'}."


def _versions(evidence: Evidence) -> str:
    versions = {dict(origin.versions).get("langford", UNKNOWN) for origin in evidence.origins}
    kernels = {origin.kernels for origin in evidence.origins}
    return f"{', '.join(sorted(versions))}, kernels {', '.join(sorted(kernels))}"


def _devices(evidence: Evidence) -> str:
    tasks: dict[str, int] = {}
    for origin in evidence.origins:
        tasks[origin.device] = tasks.get(origin.device, 0) + origin.times.number
    named = sorted(tasks, key=lambda device: -tasks[device])[:MAX_DEVICES]
    devices = [f"{device} ({several(tasks[device], 'task')})" for device in named]
    if len(tasks) > MAX_DEVICES:
        devices.append(several(len(tasks) - MAX_DEVICES, "other kind"))
    hosts = f" of {several(len(evidence.hosts), 'host')}" if len(evidence.hosts) else ""
    return f"{', '.join(devices)}{hosts}"


def _confirmed(evidence: Evidence) -> Iterator[str]:
    compared, confirmed = evidence.agreement, int(evidence.history.results.confirmed.sum())
    if compared is not None and compared.published is not None:
        known = cited(compared.problem)
        yield f"The count is the published one{f' ({known})' if known else ''}."
    elif compared is not None and compared.standard_errors is not None:
        yield f"It is {compared.standard_errors:.1f} standard errors away from an estimate by random walks."
    if confirmed:
        yield f"{confirmed:,} of the {evidence.numbers.tasks:,} partial results were found twice, independently."
    for other in evidence.confirmations:
        name, key = other.second
        seed = f" with seed {key.seed}" if key.seed else ""
        yield f"The campaign {name} counted the same by {key.method}{seed} at depth {key.depth}."
    if not evidence.confirmations:
        yield "No second sum is known to have counted it."
