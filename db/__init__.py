"""The ledger: campaigns, tasks, attempts, results, events; the only truth about what is done."""

from db.ledger import Ledger
from db.records import CampaignRecord, Delivery, Lease, Progress, TaskRecord

__all__ = ["CampaignRecord", "Delivery", "Lease", "Ledger", "Progress", "TaskRecord"]
