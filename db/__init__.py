"""The ledger: campaigns, tasks, attempts, results and events.  It alone decides which tasks are done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from db.attempts import Credential, Delivery, Lease, Receipt
from db.files.exports import Export, joined
from db.files.promise import Promise
from db.files.reading import read_export
from db.records import CampaignRecord, Replication, Standing

if TYPE_CHECKING:
    from db.campaign.campaign import Campaign
    from db.campaign.worker import WorkerCampaign
    from db.ledger import Ledger
    from db.store.database import Database
else:

    def __getattr__(name: str) -> object:
        """What imports SQLAlchemy, which workers of a server and ranks of MPI do not need."""
        match name:
            case "Campaign":
                import db.campaign.campaign as module
            case "WorkerCampaign":
                import db.campaign.worker as module
            case "Database":
                import db.store.database as module
            case "Ledger":
                import db.ledger as module
            case _:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(module, name)
        return value


__all__ = [
    "Campaign",
    "CampaignRecord",
    "Credential",
    "Database",
    "Delivery",
    "Export",
    "Lease",
    "Ledger",
    "Promise",
    "Receipt",
    "Replication",
    "Standing",
    "WorkerCampaign",
    "joined",
    "read_export",
]
