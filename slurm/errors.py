"""What goes wrong between a campaign and a cluster; each message says what to do."""

from __future__ import annotations

from langford.errors import LangfordError


class NoSlurm(LangfordError):
    """SLURM's commands are not here."""


class BadScript(LangfordError):
    """A job cannot be described so that SLURM and the shell read it as meant."""


class SubmissionRefused(LangfordError):
    """sbatch refuses a job."""


class SchedulerSilent(LangfordError):
    """The scheduler does not answer now; it may later."""


class WorkersEndAtOnce(LangfordError):
    """Array elements end again and again without a trace in the ledger."""


class AnotherKeeper(LangfordError):
    """The campaign's queue has a keeper already."""
