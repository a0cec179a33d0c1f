"""The errors of campaigns on a cluster, one class per cause; each message says what to do next."""

from __future__ import annotations

from langford.errors import LangfordError


class NoSlurm(LangfordError):
    """SLURM's commands are not installed on this machine."""


class BadScript(LangfordError):
    """SLURM or the shell would misread the script of a job."""


class PasswordInScript(LangfordError):
    """The script of a job, which others can read, would contain a password."""


class SubmissionRefused(LangfordError):
    """The scheduler refuses a job."""


class SchedulerSilent(LangfordError):
    """The scheduler does not answer now; it may answer later."""


class WorkersEndAtOnce(LangfordError):
    """Array elements end again and again, and nothing changes in the ledger."""


class AnotherKeeper(LangfordError):
    """Another process keeps the queue of the campaign already."""
