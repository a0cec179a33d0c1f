"""Errors of the queue of a cluster; each message says what to do next."""

from __future__ import annotations

from db.errors import Away
from langford.errors import LangfordError


class SubmissionRefused(Away):
    """The scheduler refuses a job; it may take one later."""


class SchedulerSilent(Away):
    """The scheduler does not answer now; it may answer later."""


class QueueNotKept(LangfordError):
    """The queue of a campaign cannot be kept: another process does, or its workers end without finishing a task."""
