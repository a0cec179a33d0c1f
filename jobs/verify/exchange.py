"""Results in files: moved between ledgers, and merged without a ledger."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from db import Campaign, Export, Ledger, joined, read_export
from db.errors import BadExport, LeasesRunning, LedgerReadOnly, NoSuchCampaign, TransactionUndone, Unreplicated
from db.files.reading import agreed_plan, in_words
from db.files.writing import TrustedFile
from db.identity import Identity
from db.states import EventKind
from jobs.verify import signatures
from langford.errors import BadInput, CheckFailed
from langford.machine.outputs import OutputForm
from langford.machine.process import user
from langford.methods import Count, Plan, PlanKey, merge
from langford.words import several

RESULTS = OutputForm("an export", rb'\{"format": "langford results ')


def file_of(campaign: str) -> Path:
    """The file to which a campaign of this name is exported unless another one is given."""
    return Path(f"{campaign}.jsonl.gz")


def plan_for(export: Export) -> Plan:
    """The plan of an export; raises CampaignMismatch when this version splits the problem in another way."""
    return agreed_plan(export.name, export.key, export.tasks)


def validated(file: Path) -> Export:
    """The export in a file, each of its results checked by itself; raises BadExport."""
    export = read_export(file)
    plan = plan_for(export)
    for evaluation in export.results:
        try:
            plan.expectation(evaluation.result.index).check(evaluation.result)
        except CheckFailed as error:
            raise BadExport(f"{in_words(file)} has a wrong result: {error}") from error
    return export


def require_superseded(file: Path, name: str, key: PlanKey, tasks: Collection[int]) -> None:
    """Raises BadInput where a file has results that the export, which is to replace it, lacks.

    Args:
        file: a damaged export in it may be replaced.
        name, key: of the campaign that is exported.
        tasks: whose results the export has, or leaves out because they are in doubt.
    """
    if not (file.is_file() and RESULTS.fits(file)):
        return
    try:
        earlier = read_export(file)
    except BadExport:
        return
    lost = {evaluation.result.index for evaluation in earlier.results}
    if earlier.key == key:
        lost -= set(tasks)
    if lost:
        raise BadInput(
            f"{file} has {several(len(lost), 'result')} of {earlier.name} that the export of {name} lacks: "
            "give another --out"
        )


def take(ledger: Ledger, file: Path, export: Export | None = None) -> tuple[Campaign, list[EventKind | None]]:
    """Import a file into a ledger in one transaction; the campaign is created unless it exists.

    Args:
        ledger: it records the name of the file, its SHA-256, and who imported it.
        file: the name may be that of standard input.
        export: the content, if it was :func:`validated` already.

    Returns the campaign, and the event of each result that is new to the ledger, see db.Ledger.take.
    Raises BadExport, CampaignMismatch or CheckFailed.
    """
    identity, export = Identity.fresh(), export or validated(file)
    where = f"{_shown(Path(in_words(file)).name)}, SHA-256 {export.sha256}"
    source = f"{where}, imported by {user()} on {identity.host}"
    return ledger.take(export, plan_for(export), identity.worker_id, identity.host, identity.process, source)


def _shown(name: str) -> str:
    """Replaces characters that databases or terminals would interpret."""
    return "".join(character if character.isprintable() else "?" for character in name)


def count_of(files: Sequence[Path], unconfirmed: bool = False) -> tuple[Export, Count]:
    """The results of several files of one campaign, and the count that follows from them.

    Args:
        files: each result is in one of them, or the same in several.
        unconfirmed: merge even if the files record no confirmation of some drawn results.

    Raises BadExport, CampaignMismatch, Incomplete, ConflictingResults, CheckFailed or Unreplicated.
    """
    export = joined([read_export(file) for file in files])
    return export, merged(export, files, unconfirmed)


def merged(export: Export, files: Sequence[Path], unconfirmed: bool = False) -> Count:
    """Arguments and errors as :func:`count_of`."""
    count = merge(plan_for(export), [evaluation.result for evaluation in export.results])
    if export.promise is None:
        return count
    if export.promise.missing and not unconfirmed:
        words, missing = export.promise.replication.words, export.promise.missing
        named = shlex.join(map(str, files))
        together = (
            "; of several files, the largest share applies to all, and a result is confirmed only if each file "
            "that has it confirms it"
        )
        raise Unreplicated(
            f"{export.name} has {words}, as its files say{together if len(files) > 1 else ''}: {missing:,} wait; "
            f"get an export that was written when they were confirmed, or decide here: `langford import {named}`, "
            f"then `langford verify {export.name} --waiting`, or print the count as it is: "
            f"`langford result --from {named} --unconfirmed`"
        )
    return replace(count, checks=(*count.checks, *export.promise.replication.checks))


NOTHING_DELETED = BadExport, LeasesRunning, LedgerReadOnly, NoSuchCampaign, TransactionUndone
"""After these errors a campaign is still in its ledger, unchanged."""


def delete(campaign: Campaign, kept: TrustedFile, file: Path) -> None:
    """Write the export of a campaign to a file that only the owner can read, and delete the campaign.

    A file that holds the export already is left as it is.

    Args:
        campaign: of a ledger.
        kept: what its ``trusted_export`` returned.
        file: if it was written, it is removed again when the campaign is still there; after an error of another
            kind that is unknown.

    Raises BadExport when the file cannot be read back, and as :func:`jobs.verify.signatures.write` and
    :meth:`db.campaign.operator.OperatorCampaign.delete`.
    """
    is_there = holds(file, kept)
    if not is_there:
        signatures.write(file, kept.content, RESULTS, key=None, private=True)
    try:
        validated(file)
        campaign.operator.delete(kept)
    except NOTHING_DELETED:
        if not is_there:
            file.unlink()
        raise


def holds(file: Path, kept: TrustedFile) -> bool:
    """Whether a file is there whose content is this export."""
    return file.is_file() and file.read_bytes() == kept.content
