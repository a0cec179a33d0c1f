"""What a report says, gathered and computed once: from a campaign of a ledger, or from exported files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from db import Campaign
from db.errors import Unreplicated
from db.files.promise import Promise
from db.files.reading import STANDARD_INPUT
from db.look.figures.campaign import CampaignFigures
from db.look.history import History
from db.look.overview.records import Eta
from jobs.show.report import exported
from jobs.show.report.origins import UNKNOWN, DeviceResults, origins
from jobs.verify import exchange
from jobs.verify.agreement import Agreement, agreement
from jobs.verify.confirmation import Confirmation, confirmations
from langford.errors import LangfordError
from langford.methods import METHODS, Count, method_hash
from langford.words import instant


@dataclass(frozen=True)
class Evidence:
    """A campaign, all that is known of it, and what follows."""

    history: History
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
    # Files with the results that are counted, each with its SHA-256 in hexadecimal digits; of a campaign the one
    # that `langford export` has written here
    exports: tuple[tuple[str, str], ...] = ()
    confirmations: tuple[Confirmation, ...] = ()  # other campaigns that counted the same problem by another sum

    @property
    def unit(self) -> str:
        """What the work is counted in: "points" or "nodes"."""
        return METHODS[self.history.key.method].unit

    @property
    def numbers(self) -> CampaignFigures:
        return self.history.figures

    @cached_property
    def origins(self) -> tuple[DeviceResults, ...]:
        return origins(self.history)

    @property
    def figures(self) -> list[str]:
        """Those for which enough is known, in the order of the report."""
        known = {
            "occupancy": self.numbers.most_devices > 0,
            "throughput": self.numbers.throughput is not None,
            "task-times": self.numbers.times is not None,
        }
        return [name for name, enough in known.items() if enough]

    @property
    def hosts(self) -> set[str]:
        return {origin.host for origin in self.origins if origin.host != UNKNOWN} | self.history.hosts


def of_campaign(campaign: Campaign, unconfirmed: bool = False, others: Iterable[Campaign] = ()) -> Evidence:
    """The evidence about a campaign of a ledger; raises the errors of :mod:`db.errors`, and CheckFailed.

    ``unconfirmed``: count although the promised share is not replicated; ``others``: may have the same problem.
    """
    history = campaign.reader.history()
    found = _evidence(history, lambda: campaign.reader.merged(unconfirmed), campaign.reader.promise())
    if found.count is not None:
        found = replace(found, confirmations=tuple(confirmations(campaign, found.count, others)))
        file = exchange.file_of(campaign.name)
        if file.is_file() and exchange.holds(file, kept := campaign.reader.trusted_export()):
            found = replace(found, exports=((file.name, hashlib.sha256(kept.content).hexdigest()),))
        return found
    if history.figures.done == history.tasks:
        return found
    now = campaign.reader.overview()
    return replace(found, forecast=_forecast(now.eta), warnings=tuple(warned.text for warned in now.warnings))


def _lacks(history: History) -> Iterator[str]:
    """What the source of a report does not know, in words."""
    done, timed = history.figures.done, history.figures.timed
    if timed < done:
        those = f"{done - timed:,} of its tasks" if timed else "its tasks"
        yield f"when {those} were computed and by which workers: the files that they come from do not say so"
    if history.imported_workers or history.events is None:
        yield (
            "attempts without a result, further results and events of the workers in exported files, which hold "
            "accepted results only"
        )


def of_files(files: Sequence[Path], unconfirmed: bool = False) -> Evidence:
    """The evidence of exported files of one campaign; ``unconfirmed``: as for :func:`of_campaign`.

    Raises BadExport, CampaignMismatch or ConflictingResults.
    """
    export, history, digests = exported.read(files)
    found = _evidence(
        history,
        lambda: exchange.merged(export, files, unconfirmed),
        export.promise,
    )
    # Standard input has no name: the file has that which the export had at first.
    names = ((exchange.file_of(history.name) if file == STANDARD_INPUT else file).name for file in files)
    return replace(found, exports=tuple(zip(names, digests, strict=True)))


def _forecast(eta: Eta | None) -> str:
    if eta is None:
        return ""
    return f"At the present speed all are done between {instant(eta.earliest)} and {instant(eta.latest)} UTC."


def _evidence(history: History, merged: Callable[[], Count], promise: Promise | None) -> Evidence:
    count, pending, unreplicated = None, "", False
    try:
        count = merged()
    except LangfordError as error:
        pending, unreplicated = str(error), isinstance(error, Unreplicated)
    compared = None if count is None else agreement(history.key.problem, count.published)
    return Evidence(
        history,
        count,
        pending,
        compared,
        method_hash(history.key.method),
        tuple(_lacks(history)),
        promise=promise,
        unreplicated=unreplicated,
    )
