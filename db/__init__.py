"""The ledger: campaigns, tasks, attempts, results and events.  It alone decides which tasks are done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from db.attempts import Credential, Delivery, Lease, Receipt
from db.files.exports import Export, joined
from db.files.promise import Promise
from db.files.reading import read_export
from db.records import CampaignRecord, LeaseHolder, Progress, Replication, Standing, TaskRecord
from langford.loading import loading

if TYPE_CHECKING:
    from db.campaign import Campaign
    from db.ledger import Ledger
    from db.store.database import Database
else:
    # These import SQLAlchemy, which workers of a server and ranks of MPI do not need.
    __getattr__ = loading(
        globals(), {"db.campaign": "Campaign", "db.store.database": "Database", "db.ledger": "Ledger"}
    )

__all__ = [
    "Campaign",
    "CampaignRecord",
    "Credential",
    "Database",
    "Delivery",
    "Export",
    "Lease",
    "LeaseHolder",
    "Ledger",
    "Progress",
    "Promise",
    "Receipt",
    "Replication",
    "Standing",
    "TaskRecord",
    "joined",
    "read_export",
]
