"""The history of a campaign from exported files: its results, and what the files say of where they come from."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from db import Export, joined, read_export
from db.look.figures import attempts
from db.look.figures.attempts import Elapsed
from db.look.figures.campaign import AcceptedResults, measured
from db.look.figures.occupancy import Spans
from db.look.history import History
from langford.methods import plan_of


def read(files: Sequence[Path]) -> tuple[Export, History, list[str]]:
    """The results of exported files of one campaign, its history, and the SHA-256 of each file.

    Raises BadExport, CampaignMismatch or ConflictingResults.
    """
    parts = [read_export(file) for file in files]
    export = joined(parts)
    machines = dict(sorted({each.worker: each.machine for each in export.computations.values()}.items()))

    rows = ExportedRows(
        export,
        time.time(),
        list(machines),
        [machine.processes for machine in machines.values()],
        [machine.device_model for machine in machines.values()],
        sorted({evaluation.provenance for evaluation in export.results}),
    )
    figures = measured(rows, plan_of(export.key).work)
    history = History(
        name=export.name,
        uuid=None,
        key=export.key,
        now=rows.now,
        source=", ".join(file.name for file in files),
        figures=figures,
        all_workers=len(machines),
        imported_workers=len(machines),
        hosts=frozenset(machine.host for machine in machines.values()),
        events=None,
        event_counts={},
        conflicts=(),
    )
    return export, history, [part.sha256 for part in parts]


@dataclass
class ExportedRows:
    """See :class:`db.look.figures.campaign.Rows`."""

    export: Export
    now: float
    machines: list[int]  # the workers by their numbers in the export
    devices: Sequence[int | None]
    models: Sequence[str | None]
    sources: Sequence[str]
    lost: None = None

    @cached_property
    def _results(self) -> AcceptedResults:
        evaluations = sorted(self.export.results, key=lambda evaluation: evaluation.result.index)
        places = {source: place for place, source in enumerate(self.sources)}
        positions = {worker: place for place, worker in enumerate(self.machines)}
        found = [self.export.computations.get(evaluation.result.index) for evaluation in evaluations]
        confirmed = {} if self.export.promise is None else self.export.promise.confirmed
        return AcceptedResults(
            task=np.array([evaluation.result.index for evaluation in evaluations], dtype=np.int32),
            seconds=np.array([evaluation.seconds for evaluation in evaluations], dtype=np.float64),
            arrived=np.array([np.nan if one is None else one.ended for one in found], dtype=np.float64),
            source=np.array([places[evaluation.provenance] for evaluation in evaluations], dtype=np.int32),
            confirmed=np.array(
                [evaluation.result.index in confirmed for evaluation in evaluations], dtype=np.bool_
            ),
            worker=np.array([-1 if one is None else positions[one.worker] for one in found], dtype=np.int32),
        )

    @cached_property
    def elapsed(self) -> Elapsed | None:
        return attempts.elapsed(
            Elapsed(one.granted if one.began is None else one.began, one.ended)
            for one in self.export.computations.values()
        )

    @property
    def last_held(self) -> float | None:
        return None if self.elapsed is None else self.elapsed.arrived

    def results(self) -> Iterator[AcceptedResults]:
        if self.export.results:
            yield self._results

    @property
    def further(self) -> tuple[int, float]:
        """Exports hold accepted results only."""
        return 0, 0.0

    def spans(self) -> Iterator[Spans]:
        results, computations = self._results, self.export.computations
        known = results.worker >= 0
        found = [computations[index] for index in results.task[known].tolist()]
        granted = np.array([one.granted for one in found], dtype=np.float64)
        order = np.argsort(granted, kind="stable")
        began = np.array([one.began for one in found], dtype=np.float64)  # None becomes nan
        yield Spans.of(
            worker=results.worker[known][order],
            granted=granted[order],
            ended=results.arrived[known][order],
            began=began[order],
            computed=results.seconds[known][order],
            now=self.now,
        )
