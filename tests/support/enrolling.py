"""Workers of a ledger that enrol without asking for tasks, and leave."""

from __future__ import annotations

from typing import Any

from db import Ledger
from db.identity import Identity
from db.machines import EQUIPMENT
from db.states import Ending
from db.store.database import retried
from db.trust import enrolment
from db.trust.terms import EVERYTHING, Terms
from db.work import pruning


def enrol(
    ledger: Ledger,
    worker_id: str,
    host: str,
    process: str,
    device_kind: str = "cpu",
    kernels: str = "",
    terms: Terms = EVERYTHING,
    **equipment: Any,
) -> None:
    """As a campaign's :meth:`db.WorkerCampaign.enrol`."""
    database, machine = ledger.database, dict.fromkeys(EQUIPMENT) | equipment
    identity = Identity(
        worker_id=worker_id, host=host, process=process, device_kind=device_kind, kernels=kernels, **machine
    )

    @retried
    def register() -> None:
        idle = terms.admit(pruning.Living(database.now), database, worker_id)
        with database.writing() as connection:
            enrolment.enrol(connection, identity, terms.digest, idle)

    register()


def leave(ledger: Ledger, worker_id: str, ending: Ending, terms: Terms = EVERYTHING) -> None:
    """As a campaign's :meth:`db.WorkerCampaign.leave`."""
    enrolment.leave(ledger.database, terms, worker_id, ending)
