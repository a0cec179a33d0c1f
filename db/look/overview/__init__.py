"""The overview of a campaign: progress, speed, time left, workers and warnings.

Speeds, remaining times and warnings are computed nowhere else.
"""

from db.look.overview.records import (
    ENDINGS,
    ID_LENGTH,
    Checked,
    Eta,
    Happened,
    Overview,
    Parts,
    Preempted,
    Presence,
    Speed,
    Total,
    Warned,
    WarningKind,
    WorkerView,
    to_document,
)
from db.look.overview.shared import Shared, Watch
from db.messages import iso

__all__ = [
    "ENDINGS",
    "ID_LENGTH",
    "Checked",
    "Eta",
    "Happened",
    "Overview",
    "Parts",
    "Preempted",
    "Presence",
    "Shared",
    "Speed",
    "Total",
    "Warned",
    "WarningKind",
    "Watch",
    "WorkerView",
    "iso",
    "to_document",
]
