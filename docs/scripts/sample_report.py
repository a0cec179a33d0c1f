"""The report of the count of L(2,28) whose export this repository keeps."""

from __future__ import annotations

from pathlib import Path

from jobs.show.report import gathering
from jobs.show.report.formats import html

EXPORT = Path(__file__).parents[2] / "jobs" / "campaigns" / "langford-28-polyphase-16.jsonl.gz"


def page() -> str:
    """The report as a page of HTML."""
    return html.page(gathering.of_files([EXPORT]))
