"""Results as files, which one ledger exports and another one imports.

An export is gzipped text with one JSON document per line: a header that names the campaign; each provenance
once; the results by task; and at the end the SHA-256 of all bytes before it.  The header has a seed only if it is
not 0.  Equal results give equal bytes, so that an export can be kept under version control.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from db.errors import CampaignMismatch, ConflictingResults
from langford.methods import PlanKey
from langford.result import Evaluation

FORMAT = "langford results 1"
ORIGIN_PREFIX = "import "
"""How the note of an attempt starts whose result was imported."""


@dataclass(frozen=True)
class Export:
    """Results of one campaign.

    Attributes:
        name: of the campaign.
        key: its plan: problem, method, depth and seed.
        tasks: number of tasks of the campaign, done or not.
        results: of the tasks that are done, each with time and provenance.
    """

    name: str
    key: PlanKey
    tasks: int
    results: tuple[Evaluation, ...]

    def to_bytes(self) -> bytes:
        """The file's content."""
        sources = sorted({evaluation.provenance for evaluation in self.results})
        numbers = {source: number for number, source in enumerate(sources)}
        documents: list[dict[str, object]] = [
            {
                "format": FORMAT,
                "campaign": self.name,
                "problem": self.key.problem.name,
                "method": self.key.method,
                "depth": self.key.depth,
                **({"seed": self.key.seed} if self.key.seed else {}),
                "tasks": self.tasks,
                "sources": len(sources),
                "results": len(self.results),
            }
        ]
        documents += ({"source": source} for source in sources)
        documents += (
            {
                "task": evaluation.result.index,
                **evaluation.result.to_text(),
                "seconds": round(evaluation.seconds, 6),
                "source": numbers[evaluation.provenance],
            }
            for evaluation in sorted(self.results, key=lambda evaluation: evaluation.result.index)
        )
        body = "".join(json.dumps(document) + "\n" for document in documents).encode()
        seal = json.dumps({"sha256": hashlib.sha256(body).hexdigest()}) + "\n"
        return gzip.compress(body + seal.encode(), mtime=0)


def origin(evaluation: Evaluation) -> str:
    """A note that tells an exported result from another evaluation of the same task."""
    text = f"{evaluation.result} {evaluation.seconds:.6f} {evaluation.provenance}"
    return ORIGIN_PREFIX + hashlib.sha256(text.encode()).hexdigest()[:24]


def joined(exports: Sequence[Export]) -> Export:
    """The exports of one campaign as one; raises CampaignMismatch or ConflictingResults."""
    first = exports[0]
    by_task: dict[int, Evaluation] = {}
    for export in exports:
        if (export.key, export.tasks) != (first.key, first.tasks):
            raise CampaignMismatch(
                f"{export.name} is {export.key}, {first.name} is {first.key}: join exports of one campaign"
            )
        for evaluation in export.results:
            _add(by_task, evaluation)
    return Export(first.name, first.key, first.tasks, tuple(by_task.values()))


def _add(by_task: dict[int, Evaluation], evaluation: Evaluation) -> None:
    """Add a result, once; raises ConflictingResults when the task has another one."""
    result = evaluation.result
    first = by_task.setdefault(result.index, evaluation).result
    if first != result:
        raise ConflictingResults(
            f"task {result.index} is {first.value} in one export and {result.value} in another: evaluate it again"
        )
