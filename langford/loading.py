"""Load what the table of commands names, when it is first used: other modules import plainly where they need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load(reference: str) -> Any:
    """The object that "package.module:name" names; raises ImportError or AttributeError."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
