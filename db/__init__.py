"""The ledger: campaigns, tasks, attempts, results, events; the only truth about what is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from db.exports import Export, joined
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
from langford.loading import load

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
    "Receipt",
    "Replication",
    "Standing",
    "TaskRecord",
    "joined",
    "read_export",
]

_MODULES = {"Campaign": "db.campaign", "Database": "db.database", "Ledger": "db.ledger"}


def __getattr__(name: str) -> Any:
    """Load what needs SQLAlchemy when it is first used: workers of a server and ranks of MPI never do."""
    if name not in _MODULES:
        raise AttributeError(f"module 'db' has no attribute {name!r}")
    value = globals()[name] = load(f"{_MODULES[name]}:{name}")
    return value
