"""The errors of a ledger, one class per cause."""

from __future__ import annotations

from langford.errors import Incomplete, LangfordError, WrongResult


class LedgerError(LangfordError):
    """Base of the ledger's errors."""


class NotALedger(LedgerError):
    """The file or database exists but holds something else."""


class WrongSchema(LedgerError):
    """The ledger was written by a version with another schema."""


class LedgerUnreachable(LedgerError):
    """The ledger cannot be opened: no such folder, no permission, no server."""


class ConnectionLost(LedgerUnreachable):
    """The database's server does not answer, or has closed the connection: it may be back soon."""


class LedgerMoved(LedgerError):
    """The file of the ledger is not where it was opened, or another one is there."""


class LedgerReadOnly(LedgerError):
    """The ledger may be read here, and not changed."""


class LedgerFull(LedgerError):
    """The disk under the ledger is full; what was committed before is safe."""


class LedgerBusy(LedgerError):
    """Another process held the ledger for too long."""


class TransactionUndone(LedgerBusy):
    """Two transactions waited for each other, and the database undid this one: it may be tried again at once."""


class NetworkFileSystem(LedgerError):
    """The ledger would be an SQLite file on a network file system, where it may be corrupted."""


class NoSuchCampaign(LedgerError):
    """The ledger has no campaign of that name."""


class BadName(LedgerError):
    """A campaign cannot have this name."""


class CampaignMismatch(LedgerError):
    """A campaign of that name exists with another problem, method, depth or number of tasks."""


class ConflictingResults(LedgerError, WrongResult):
    """Two attempts gave different results for one task: the merge is blocked."""


class UntrustedResults(LedgerError, Incomplete):
    """Results of a distrusted worker, or put in question, have not been evaluated again: the merge waits."""


class Unreplicated(LedgerError, Incomplete):
    """Results that were drawn for a recheck have not been confirmed: the merge waits."""


class NothingChosen(LedgerError):
    """Results that shall be put in question do not exist."""


class WrongToken(LedgerError):
    """A worker shows another token than the one with which it enrolled."""


class TooManyWorkers(LedgerError):
    """A token has as many workers as one may have."""


class UnknownWorker(LedgerError):
    """A worker that is not enrolled asks for tasks: the ledger is another one, or was restored from a backup."""


class WorkerDistrusted(LedgerError):
    """A worker whose results others found wrong gets no more tasks."""


class BadExport(LedgerError):
    """A file of exported results is missing, damaged, cut short, or something else."""


class NameTaken(LedgerError):
    """Another campaign of the ledger has the name."""


class LeasesRunning(LedgerError):
    """Workers hold leases of a ledger that is to be copied."""


class NotEmpty(LedgerError):
    """The ledger to copy into has campaigns already."""


class CopyFailed(LedgerError):
    """A copied table differs from its original."""
