"""Errors of the queue of a cluster; each message says what to do next."""

from __future__ import annotations

from langford.errors import LangfordError


class SubmissionRefused(LangfordError):
    """The scheduler refuses a job; it may take one later."""


class SchedulerSilent(LangfordError):
    """The scheduler does not answer now; it may answer later."""


class QueueNotKept(LangfordError):
    """The queue of a campaign cannot be kept: another process does, or its workers end without finishing a task."""
