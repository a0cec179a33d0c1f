"""The ledger: campaigns, tasks, attempts, results, events; the only truth about what is done."""

from db.exports import Export, joined, read_export
from db.ledger import Ledger
from db.records import CampaignRecord, Delivery, Lease, Progress, TaskRecord

__all__ = [
    "CampaignRecord",
    "Delivery",
    "Export",
    "Lease",
    "Ledger",
    "Progress",
    "TaskRecord",
    "joined",
    "read_export",
]
