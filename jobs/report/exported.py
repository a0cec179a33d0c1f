"""The history of a campaign from exported files: its results, and what the files say of where they come from."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from db import Export, joined, read_export
from db.history import History, Results


def read(files: Sequence[Path]) -> tuple[Export, History]:
    """The results of exported files of one campaign, and its history.

    Raises BadExport, CampaignMismatch or ConflictingResults.
    """
    export = joined([read_export(file) for file in files])
    evaluations = sorted(export.results, key=lambda evaluation: evaluation.result.index)
    sources = tuple(sorted({evaluation.provenance for evaluation in evaluations}))
    places = {source: place for place, source in enumerate(sources)}
    results = Results(
        task=np.array([evaluation.result.index for evaluation in evaluations], dtype=np.int64),
        seconds=np.array([evaluation.seconds for evaluation in evaluations], dtype=np.float64),
        accepted=np.full(len(evaluations), np.nan),
        source=np.array([places[evaluation.provenance] for evaluation in evaluations], dtype=np.int64),
        confirmed=np.zeros(len(evaluations), dtype=np.bool_),
        worker=np.full(len(evaluations), -1),
    )
    history = History(
        name=export.name,
        uuid=None,
        key=export.key,
        tasks=export.tasks,
        created=None,
        now=time.time(),
        source=", ".join(file.name for file in files),
        results=results,
        sources=sources,
        attempts=None,
        workers=None,
        events=None,
        event_counts={},
        conflicts=(),
    )
    return export, history


def lacks(history: History) -> list[str]:
    """What the files of a history do not say, in words."""
    missing = []
    if not np.isfinite(history.results.accepted).any():
        missing.append("when its tasks were computed, and so how many devices computed at once")
    if history.workers is None:
        missing.append("its workers, and how they ended")
    return [*missing, "attempts without a result, further results and events: exports hold accepted results only"]
