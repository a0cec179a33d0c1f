"""What a campaign's results are worth in a file: all of them, or those that are not in doubt."""

from __future__ import annotations

from collections.abc import Iterator

from db.files.exports import Export
from db.files.writing import Evaluated, TrustedFile, written
from db.records import CampaignRecord
from db.store.transaction import Transaction
from db.trust import waiting
from db.work import computations


def everything(transaction: Transaction, campaign: CampaignRecord) -> Export:
    """All accepted results, including those in doubt."""
    pairs = list(computations.of_results(transaction))
    how = {evaluation.result.index: computation for evaluation, computation in pairs if computation is not None}
    results = tuple(evaluation for evaluation, _ in pairs)
    return Export(campaign.name, campaign.key, campaign.tasks, results, how, waiting.promise(transaction, campaign))


def trusted(transaction: Transaction, campaign: CampaignRecord) -> TrustedFile:
    """See :meth:`db.Campaign.trusted_export`."""
    doubtful = {*waiting.in_conflict(transaction), *waiting.untrusted(transaction)}
    promise = waiting.promise(transaction, campaign)
    promise = None if promise is None else promise.without(doubtful)
    contents = computations.contents(transaction, doubtful)
    tasks: list[int] = []

    def results() -> Iterator[Evaluated]:
        for evaluation, computation in computations.of_results(transaction):
            if evaluation.result.index not in doubtful:
                tasks.append(evaluation.result.index)
                yield evaluation, computation

    content = written(campaign.name, campaign.key, campaign.tasks, promise, contents, results())
    return TrustedFile(content, tuple(tasks), promise, tuple(sorted(doubtful)))
