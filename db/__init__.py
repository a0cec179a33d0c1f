"""The ledger: campaigns, tasks, attempts, results, events; the only truth about what is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from db.exports import Export, joined
from db.promise import Promise
from db.reading import read_export
from db.records import (
    CampaignRecord,
    Credential,
    Delivery,
    Equipment,
    Lease,
    LeaseHolder,
    Progress,
    Receipt,
    Replication,
    Standing,
    TaskRecord,
)
from langford.loading import loading

if TYPE_CHECKING:
    from db.campaign import Campaign
    from db.database import Database
    from db.ledger import Ledger

__all__ = [
    "Campaign",
    "CampaignRecord",
    "Credential",
    "Database",
    "Delivery",
    "Equipment",
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

# What needs SQLAlchemy: workers of a server and ranks of MPI never do.
__getattr__ = loading(globals(), {"Campaign": "db.campaign", "Database": "db.database", "Ledger": "db.ledger"})
