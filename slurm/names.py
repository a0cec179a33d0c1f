"""The names of a campaign's jobs, by which a keeper finds them again, and no other campaign's."""

from __future__ import annotations

DIGITS = 8
"""How many digits of the UUID: campaigns of one name differ in them, and a table of squeue can still be read."""


def job_name(campaign: str, uuid: str) -> str:
    """The name of all jobs of a campaign: its own name is that of other campaigns too, in other ledgers.

    >>> job_name("l24", "1f2e3d4c-5b6a-4798-8a7b-6c5d4e3f2a1b")
    'l24-1f2e3d4c'
    """
    return f"{campaign}-{uuid[:DIGITS]}"
