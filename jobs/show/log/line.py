"""The log of the task server: each line has a kind, and fields for programs.  No line holds a token.

The lines go to a logger of the standard library; whoever starts the server chooses how they are written.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

NAME = "langford.server"
LOGGER = logging.getLogger(NAME)


def line(event: str, message: str, campaign: str | None = None, *, alarm: bool = False, **fields: Any) -> None:
    """``campaign``: None: the line is about the server; ``fields``: the message, for programs."""
    LOGGER.log(logging.WARNING if alarm else logging.INFO, "%s", message, extra=extra(event, campaign, fields))


def extra(event: str, campaign: str | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"event": event, "campaign": campaign, "fields": dict(fields)}
