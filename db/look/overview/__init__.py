"""The overview of a campaign: how far, how fast, until when, who works, and what went wrong.

Nothing else computes speeds, times that remain, or warnings.
"""

from db.files.messages import iso
from db.look.overview.records import (
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
    of_document,
    to_document,
)
from db.look.overview.shared import Shared, Watch

__all__ = [
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
    "of_document",
    "to_document",
]
