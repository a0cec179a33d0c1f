"""What goes wrong between a campaign and a cluster; each message says what to do."""

from __future__ import annotations

from langford.errors import LangfordError


class NoSlurm(LangfordError):
    """SLURM's commands are not installed on this machine."""


class BadScript(LangfordError):
    """SLURM or the shell would misread the script of a job."""


class SubmissionRefused(LangfordError):
    """The scheduler refuses a job."""


class SchedulerSilent(LangfordError):
    """The scheduler does not answer now; it may later."""


class WorkersEndAtOnce(LangfordError):
    """Array elements end again and again, and nothing changes in the ledger."""


class AnotherKeeper(LangfordError):
    """The campaign's queue has a keeper already."""
