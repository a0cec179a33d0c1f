"""Standard output for what has styles: tables and drawings."""

from __future__ import annotations

import os

from rich.console import Console


def styled() -> Console:
    """With NO_COLOR it gets no style at all, not even bold or dim text."""
    return Console(color_system=None if os.environ.get("NO_COLOR") else "auto")
