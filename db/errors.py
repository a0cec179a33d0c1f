"""What can go wrong with a ledger, one class per cause."""

from __future__ import annotations

from langford.errors import LangfordError


class LedgerError(LangfordError):
    """Base of the ledger's errors."""


class NotALedger(LedgerError):
    """The file or database exists but holds something else."""


class WrongSchema(LedgerError):
    """The ledger was written by a version with another schema."""


class LedgerUnreachable(LedgerError):
    """The ledger cannot be opened: no such folder, no permission, no server."""


class LedgerFull(LedgerError):
    """The disk under the ledger is full; what was committed before is safe."""


class LedgerBusy(LedgerError):
    """Another process kept the ledger locked for too long, or its transaction and this one blocked each other."""


class NetworkFileSystem(LedgerError):
    """SQLite on a network file system corrupts; such a ledger is refused."""


class NoSuchCampaign(LedgerError):
    """The ledger has no campaign of that name."""


class CampaignMismatch(LedgerError):
    """A campaign of that name exists and counts something else, or differently."""


class ConflictingResults(LedgerError):
    """Two attempts gave different results for one task: the merge is blocked."""


class UntrustedResults(LedgerError):
    """Results of a distrusted worker have not been evaluated again: the merge is blocked."""


class WorkerDistrusted(LedgerError):
    """A worker whose results others found wrong gets no more tasks."""


class BadExport(LedgerError):
    """A file of exported results is damaged, cut short, or none at all."""


class LeasesRunning(LedgerError):
    """Workers hold leases of a ledger that is to be copied."""


class NotEmpty(LedgerError):
    """The ledger to copy into has campaigns already."""


class CopyFailed(LedgerError):
    """A copied table differs from its original."""
