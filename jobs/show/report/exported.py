"""The history of a campaign from exported files: its results, and what the files say of where they come from."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from db import Export, joined, read_export
from db.look.history import OUTCOMES, AcceptedResults, Attempts, History, PastWorker
from db.states import Outcome


def read(files: Sequence[Path]) -> tuple[Export, History, list[str]]:
    """The results of exported files of one campaign, its history, and the SHA-256 of each file.

    Raises BadExport, CampaignMismatch or ConflictingResults.
    """
    parts = [read_export(file) for file in files]
    export = joined(parts)
    machines = dict(sorted({each.worker: each.machine for each in export.computations.values()}.items()))
    workers = tuple(PastWorker(str(number), machine, is_imported=True) for number, machine in machines.items())
    history = History(
        name=export.name,
        uuid=None,
        key=export.key,
        tasks=export.tasks,
        created=None,
        now=time.time(),
        source=", ".join(file.name for file in files),
        results=_results(export, machines),
        sources=tuple(sorted({evaluation.provenance for evaluation in export.results})),
        attempts=_attempts(export, machines) if machines else None,
        workers=workers if machines else None,
        events=None,
        event_counts={},
        conflicts=(),
        cut_short=(),
    )
    return export, history, [part.sha256 for part in parts]


def _results(export: Export, machines: Iterable[int]) -> AcceptedResults:
    evaluations = sorted(export.results, key=lambda evaluation: evaluation.result.index)
    sources = sorted({evaluation.provenance for evaluation in evaluations})
    places = {source: place for place, source in enumerate(sources)}
    positions = {worker: place for place, worker in enumerate(machines)}
    found = [export.computations.get(evaluation.result.index) for evaluation in evaluations]
    confirmed = {} if export.promise is None else export.promise.confirmed
    return AcceptedResults(
        task=np.array([evaluation.result.index for evaluation in evaluations], dtype=np.int32),
        seconds=np.array([evaluation.seconds for evaluation in evaluations], dtype=np.float64),
        accepted=np.array([np.nan if one is None else one.ended for one in found], dtype=np.float64),
        source=np.array([places[evaluation.provenance] for evaluation in evaluations], dtype=np.int32),
        confirmed=np.array([evaluation.result.index in confirmed for evaluation in evaluations], dtype=np.bool_),
        worker=np.array([-1 if one is None else positions[one.worker] for one in found], dtype=np.int32),
    )


def _attempts(export: Export, machines: Iterable[int]) -> Attempts:
    positions = {worker: place for place, worker in enumerate(machines)}
    seconds = {evaluation.result.index: evaluation.seconds for evaluation in export.results}
    known = sorted(export.computations.items())
    return Attempts(
        task=np.array([index for index, _ in known], dtype=np.int32),
        worker=np.array([positions[one.worker] for _, one in known], dtype=np.int32),
        granted=np.array([one.granted for _, one in known], dtype=np.float64),
        # None becomes nan.
        started=np.array([one.began for _, one in known], dtype=np.float64),
        ended=np.array([one.ended for _, one in known], dtype=np.float64),
        outcome=np.full(len(known), OUTCOMES.index(Outcome.DONE), dtype=np.int8),
        seconds=np.array([seconds[index] for index, _ in known], dtype=np.float64),
        accepted=np.ones(len(known), dtype=np.bool_),
        begun=np.ones(len(known), dtype=np.bool_),
    )


def lacks(history: History) -> list[str]:
    """What the files of a history do not contain, in words."""
    missing = []
    done, timed = len(history.results.task), int(np.isfinite(history.results.accepted).sum())
    if not timed:
        missing.append("when its tasks were computed, and so how many devices computed at once")
        missing.append("its workers, and how they ended")
    else:
        if timed < done:
            missing.append(f"when {done - timed:,} of its tasks were computed, and by which workers")
        missing.append("how its workers ended")
    return [*missing, "attempts without a result, further results and events: exports hold accepted results only"]
