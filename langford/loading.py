"""Load a name of a module when it is needed: what most programs never use costs them no time at the start."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load(reference: str) -> Any:
    """What "package.module:name" refers to; raises ImportError or AttributeError."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
