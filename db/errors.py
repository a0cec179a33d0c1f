"""The errors of a ledger: one class for each that a caller treats differently; the message names the remedy."""

from __future__ import annotations

from langford.errors import Incomplete, LangfordError, WrongResult


class LedgerError(LangfordError):
    """Base of the ledger's errors."""


class Away(LangfordError):
    """A ledger, a server or a scheduler does not answer now; it may answer later."""


# -- the database -----------------------------------------------------------------------------


class LedgerUnusable(LedgerError):
    """The ledger cannot be used: it is missing, moved, full, on a network file system, or something else."""


class LedgerFull(LedgerUnusable):
    """There is no space for what was to be written; what was committed is safe."""


class NoLedger(LedgerUnusable):
    """There is no ledger yet, but one can be created: no file, or an empty database."""


class ConnectionLost(LedgerUnusable, Away):
    """The database's server does not answer, or has closed the connection: it may be back soon."""


class LedgerReadOnly(LedgerError):
    """The ledger may be read here, but not changed."""


class OnlyReads(LedgerReadOnly, Away):
    """The database's server takes no changes now, as a standby does that has not yet become the primary."""


class LedgerBusy(LedgerError, Away):
    """Another process held the ledger for too long."""


class TransactionUndone(LedgerBusy):
    """Two transactions waited for each other, and the database undid this one: it may be tried again at once."""


class LeasesRunning(LedgerError):
    """Workers hold leases of what is to be copied or deleted."""


# -- campaigns and their results --------------------------------------------------------------


class NoSuchCampaign(LedgerError):
    """The ledger has no campaign of that name."""


class BadName(LedgerError):
    """A campaign cannot have this name: it has other characters than allowed, or another campaign has it."""


class CampaignMismatch(LedgerError):
    """A campaign of that name exists with another problem, method, depth or number of tasks."""


class BadExport(LedgerError):
    """A file of exported results is missing, damaged, cut short, or something else."""


class ConflictingResults(LedgerError, WrongResult):
    """Two attempts gave different results for one task: the merge is blocked."""


class UntrustedResults(LedgerError, Incomplete):
    """Results that were put in question, or come from a distrusted worker, wait to be evaluated again."""


class Unreplicated(LedgerError, Incomplete):
    """Results that were drawn for a recheck have not been confirmed: the merge waits."""


# -- workers ----------------------------------------------------------------------------------


class WrongToken(LedgerError):
    """A worker shows another token than the one with which it enrolled, or one that was revoked."""


class TooManyWorkers(LedgerError):
    """A token has as many workers as one may have."""


class TooManyLeases(LedgerError):
    """The workers of a token hold as many tasks as they may, or had too many leases without a result."""


class UnknownWorker(LedgerError):
    """A worker that is not enrolled asks for tasks: the ledger is another one, or was restored from a backup."""


class WorkerDistrusted(LedgerError):
    """A worker whose results were found wrong gets no more tasks."""
