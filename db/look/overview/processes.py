"""Workers of this host whose processes are gone, for example after kill -9, have ended in an overview."""

from __future__ import annotations

from msgspec.structs import replace

from db.identity import is_dead
from db.look.overview.records import Overview, WorkerState
from db.states import GONE


def with_ends(overview: Overview) -> Overview:
    workers = tuple(
        replace(worker, state=WorkerState.ENDED, ending=GONE)
        if worker.state.is_present and is_dead(worker.host, worker.process)
        else worker
        for worker in overview.workers
    )
    return replace(overview, workers=workers)
