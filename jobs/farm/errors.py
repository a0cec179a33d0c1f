"""The error of what a user gave to the farm's commands."""

from __future__ import annotations

from langford.errors import LangfordError


class NotUsable(LangfordError):
    """An address, a proxy, a port, a certificate, a folder or an installation cannot be used as it is."""
