"""Results as files, which one ledger exports and another imports.

An export is gzipped text with one JSON object per line (:mod:`db.files.forms`): a header that names the campaign;
each provenance once; each worker once; the results by task; and at the end the SHA-256 of all bytes before it.  The
header has a seed only if it is not 0, and a number of workers only where it is known who evaluated the results, and
when.  Equal results give equal bytes, so that an export can be kept under version control.

Format 3 states a promise and its draw, see :mod:`db.files.promise`; format 2 the promise of nothing, or one of 1.x;
format 1 records none.  A version that reads only earlier formats refuses a later one by name: it does not ignore a
promise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from db.errors import CampaignMismatch, ConflictingResults
from db.files.promise import Promise, joined_promise
from db.files.writing import Contents, written
from db.records import Computation
from langford.methods import PlanKey
from langford.result import Evaluation

ORIGIN_PREFIX = "import "
"""Start of the note of an attempt whose result was imported."""


@dataclass(frozen=True)
class Export:
    name: str
    key: PlanKey
    tasks: int  # number of tasks of the campaign, done or not
    results: tuple[Evaluation, ...]
    # When and where the results were computed, by task, where that is known
    computations: Mapping[int, Computation] = field(default_factory=dict)
    # The share of the results that was to be replicated, and which results are; None: not recorded
    promise: Promise | None = None
    # SHA-256 of the file that it was read from, in hexadecimal digits; "": not read from a file
    sha256: str = field(default="", compare=False)

    def to_bytes(self) -> bytes:
        results = sorted(self.results, key=lambda evaluation: evaluation.result.index)
        pairs = [(evaluation, self.computations.get(evaluation.result.index)) for evaluation in results]
        return written(self.name, self.key, self.tasks, self.promise, Contents.of(pairs), pairs)


def origin(evaluation: Evaluation) -> str:
    """A note that identifies an exported result among other evaluations of the same task."""
    text = f"{evaluation.result} {evaluation.seconds:.6f} {evaluation.provenance}"
    return ORIGIN_PREFIX + hashlib.sha256(text.encode()).hexdigest()[:24]


def joined(exports: Sequence[Export]) -> Export:
    """The exports of one campaign as one; raises CampaignMismatch or ConflictingResults.

    For the promise of all of them, see :func:`db.files.promise.joined_promise`.
    """
    first = exports[0]
    by_task: dict[int, Evaluation] = {}
    computations: dict[int, Computation] = {}
    for number, export in enumerate(exports):
        if (export.key, export.tasks) != (first.key, first.tasks):
            raise CampaignMismatch(
                f"{export.name} is {export.key}, {first.name} is {first.key}: join exports of one campaign"
            )
        for evaluation in export.results:
            if evaluation.result.index not in by_task and evaluation.result.index in export.computations:
                computation = export.computations[evaluation.result.index]
                # Workers of two files may have the same number.
                worker = computation.worker * len(exports) + number
                computations[evaluation.result.index] = replace(computation, worker=worker)
            _add(by_task, evaluation, first.name)
    promise = joined_promise(
        [({evaluation.result.index for evaluation in export.results}, export.promise) for export in exports]
    )
    return Export(first.name, first.key, first.tasks, tuple(by_task.values()), computations, promise)


def _add(by_task: dict[int, Evaluation], evaluation: Evaluation, name: str) -> None:
    """Raises ConflictingResults when the task has another result; ``name``: of the campaign, for the message."""
    result = evaluation.result
    first = by_task.setdefault(result.index, evaluation).result
    if first != result:
        raise ConflictingResults(
            f"task {result.index} of {name} is {first.value} in one export and {result.value} in another: import "
            f"both into one ledger, where `langford verify {name} --waiting` decides"
        )
