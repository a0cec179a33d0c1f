"""The overview of a campaign: how far, how fast, until when, who works, and what went wrong.

Nothing else computes speeds, times that remain, or warnings.
"""

from db.look.overview.documents import iso, of_document, to_document
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
    Warned,
    WarningKind,
    WorkerView,
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
    "Warned",
    "WarningKind",
    "Watch",
    "WorkerView",
    "iso",
    "of_document",
    "to_document",
]
