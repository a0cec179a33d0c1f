"""The ledger: campaigns, tasks, attempts, results, events; the only truth about what is done."""

from db.campaign import Campaign
from db.database import Database
from db.exports import Export, joined
from db.ledger import Ledger
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
    "Receipt",
    "Replication",
    "Standing",
    "TaskRecord",
    "joined",
    "read_export",
]
