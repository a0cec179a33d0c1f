"""What a report says, gathered and computed once: from a campaign of a ledger, or from exported files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from db import Campaign
from db.errors import Unreplicated
from db.files.promise import Promise
from db.files.reading import STANDARD_INPUT
from db.look.history import History, PastWorker
from db.look.overview.records import Eta
from db.states import Ending
from jobs.run.loop import result
from jobs.show.report import exported
from jobs.show.report.numbers import UNKNOWN, CampaignNumbers, DeviceResults, numbers, origins
from jobs.show.report.timeline import (
    ArrivalRates,
    Computing,
    Occupancy,
    Times,
    computing,
    occupancy,
    throughput,
    without_overlap,
)
from jobs.verify import exchange
from jobs.verify.agreement import Agreement, agreement
from jobs.verify.confirmation import Confirmation, confirmations
from langford.errors import LangfordError
from langford.methods import METHODS, Count, method_hash, plan_of
from langford.words import instant, speed

PARTS = 240
"""The number of parts into which the elapsed time is split."""
MAX_HASHED = 20_000
"""Tasks of a campaign whose export is written to be hashed; with 131,328 the report would take twice as long."""


@dataclass(frozen=True)
class Busy:
    worker: PastWorker
    # starts, ends: of the spans of time, seconds since 1970, float64
    starts: Times
    ends: Times
    results: int
    seconds: float

    @property
    def label(self) -> str:
        machine = self.worker.machine
        return f"{machine.host} {machine.slurm}" if machine.slurm else machine.host

    @property
    def was_lost(self) -> bool:
        return self.worker.ending in (Ending.PREEMPTED, Ending.LOST)


@dataclass(frozen=True)
class Evidence:
    """A campaign, all that is known of it, and what follows."""

    history: History
    work: Times  # estimated work of every task, in the method's unit, float64[tasks]
    count: Count | None  # the merged count; None where there is none yet
    pending: str  # why there is no count; empty where there is one
    agreement: Agreement | None
    kernels: str  # hash of the code that computes here
    missing: tuple[str, ...]  # what the source of the report does not know, in words
    forecast: str = ""  # when an unfinished campaign will be done, in words; empty where there is no forecast
    warnings: tuple[str, ...] = ()  # what an operator of an unfinished campaign should look at, in words
    # Which share of the results was to be replicated, and which are; None: none is recorded
    promise: Promise | None = None
    unreplicated: bool = False
    # Files with the results that are counted, each with its SHA-256 in hexadecimal digits; that of a campaign is
    # what `langford export` writes now, and none for one of more than MAX_HASHED tasks
    exports: tuple[tuple[str, str], ...] = ()
    are_written: bool = True  # whether these files exist
    confirmations: tuple[Confirmation, ...] = ()  # other campaigns that counted the same problem by another sum

    @property
    def unit(self) -> str:
        """What the work is counted in: "points" or "nodes"."""
        return METHODS[self.history.key.method].unit

    @cached_property
    def spans(self) -> Computing | None:
        return computing(self.history)

    @cached_property
    def numbers(self) -> CampaignNumbers:
        return numbers(self.history, self.spans)

    @property
    def of_computation(self) -> float | None:
        """Work of the results by their computing time; None without results."""
        return speed(float(self.work[self.history.results.task].sum()), self.numbers.effective)

    @property
    def since_the_start(self) -> float | None:
        """The speed of all devices together, by elapsed time; None: times are not known."""
        results, elapsed = self.history.results, self.numbers.elapsed
        timed = results.task[np.isfinite(results.accepted)]
        return None if elapsed is None else speed(float(self.work[timed].sum()), elapsed)

    @cached_property
    def occupancy(self) -> Occupancy | None:
        return None if self.spans is None else occupancy(self.spans, PARTS)

    @cached_property
    def throughput(self) -> ArrivalRates | None:
        begin = self.numbers.began
        return None if begin is None else throughput(self.history, self.work, begin, PARTS // 2)

    @cached_property
    def origins(self) -> tuple[DeviceResults, ...]:
        return origins(self.history, self.work)

    @cached_property
    def workers(self) -> tuple[Busy, ...]:
        """Those with the longest computing time first."""
        spans, history = self.spans, self.history
        if spans is None or history.workers is None or history.attempts is None:
            return ()
        known = len(history.workers)
        has_result = np.isfinite(history.attempts.seconds)
        results = np.bincount(spans.worker[has_result], minlength=known)
        seconds = np.bincount(
            spans.worker[has_result], weights=history.attempts.seconds[has_result], minlength=known
        )
        starts, ends, owners = without_overlap(spans.worker, spans.granted, spans.held)
        cuts = np.searchsorted(owners, np.arange(1, known))
        columns = np.split(starts, cuts), np.split(ends, cuts), results.tolist(), seconds.tolist()
        busy = [Busy(*row) for row in zip(history.workers, *columns, strict=True) if len(row[1])]
        return tuple(sorted(busy, key=lambda worker: (-worker.seconds, worker.starts[0])))

    def busiest(self, most: int) -> Sequence[Busy]:
        """Those with the longest computing time, in the order in which they began."""
        return sorted(self.workers[:most], key=lambda worker: worker.starts[0])

    @property
    def figures(self) -> list[str]:
        """Those for which enough is known, in the order of the report."""
        known = {
            "occupancy": self.occupancy is not None,
            "throughput": self.throughput is not None,
            "task-times": bool(len(self.history.results.task)),
            "workers": bool(self.workers),
        }
        return [name for name, enough in known.items() if enough]

    @property
    def hosts(self) -> NDArray[np.str_]:
        named = [origin.host for origin in self.origins if origin.host != UNKNOWN] + [
            busy.worker.machine.host for busy in self.workers
        ]
        return np.unique(np.array(named, dtype=np.str_))


def of_campaign(campaign: Campaign, unconfirmed: bool = False, others: Iterable[Campaign] = ()) -> Evidence:
    """The evidence about a campaign of a ledger; raises the errors of :mod:`db.errors`, and CheckFailed.

    ``unconfirmed``: count although the promised share is not replicated; ``others``: may have the same problem.
    """
    history = campaign.history()
    found = _evidence(
        history, campaign.plan.work, lambda: result(campaign, unconfirmed), _lacks(history), campaign.promise()
    )
    if found.count is not None:
        found = replace(found, confirmations=tuple(confirmations(campaign, found.count, others)))
        if history.tasks > MAX_HASHED:
            return found
        content = campaign.trusted_export().content
        file, digest = Path(f"{campaign.name}.jsonl.gz"), hashlib.sha256(content).hexdigest()
        is_written = file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == digest
        return replace(found, exports=((file.name, digest),), are_written=is_written)
    if len(history.results.task) == history.tasks:
        return found
    now = campaign.overview()
    return replace(found, forecast=_forecast(now.eta), warnings=tuple(warned.text for warned in now.warnings))


def _lacks(history: History) -> list[str]:
    missing = []
    done, timed = len(history.results.task), int(np.isfinite(history.results.accepted).sum())
    if timed < done:
        those = f"{done - timed:,} of its tasks" if timed else "its tasks"
        missing.append(f"when {those} were computed and by which workers: they were imported from files")
    if any(worker.is_imported for worker in history.workers or ()):
        missing.append("attempts without a result by the workers named in imported files")
    return missing


def of_files(files: Sequence[Path], unconfirmed: bool = False) -> Evidence:
    """The evidence of exported files of one campaign; ``unconfirmed``: as for :func:`of_campaign`.

    Raises BadExport, CampaignMismatch or ConflictingResults.
    """
    export, history, digests = exported.read(files)
    found = _evidence(
        history,
        plan_of(history.key).work,
        lambda: exchange.merged(export, files, unconfirmed),
        exported.lacks(history),
        export.promise,
    )
    # Standard input has no name: the file has that which the export had at first.
    names = (f"{history.name}.jsonl.gz" if file == STANDARD_INPUT else file.name for file in files)
    return replace(found, exports=tuple(zip(names, digests, strict=True)))


def _forecast(eta: Eta | None) -> str:
    if eta is None:
        return ""
    return f"At the present speed all are done between {instant(eta.earliest)} and {instant(eta.latest)} UTC."


def _evidence(
    history: History, work: Times, merged: Callable[[], Count], missing: Sequence[str], promise: Promise | None
) -> Evidence:
    count, pending, unreplicated = None, "", False
    try:
        count = merged()
    except LangfordError as error:
        pending, unreplicated = str(error), isinstance(error, Unreplicated)
    compared = None if count is None else agreement(history.key.problem, count.published)
    return Evidence(
        history,
        work,
        count,
        pending,
        compared,
        method_hash(history.key.method),
        tuple(missing),
        promise=promise,
        unreplicated=unreplicated,
    )
