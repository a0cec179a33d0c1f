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
    """Log a line.

    Args:
        event: what kind of line it is, see docs/operations.md.
        message: the line in words.
        campaign: which one it is about; None: the server.
        alarm: whether an operator should look at it.
        fields: the same as the message, for programs.
    """
    LOGGER.log(logging.WARNING if alarm else logging.INFO, "%s", message, extra=extra(event, campaign, fields))


def extra(event: str, campaign: str | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a line besides its message, as attributes of its log record."""
    return {"event": event, "campaign": campaign, "fields": dict(fields)}
