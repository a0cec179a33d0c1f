"""Load what the table of commands names, when it is first used: other modules import plainly where they need."""

from __future__ import annotations

import os
from importlib import import_module
from traceback import walk_tb
from typing import Any


def load(reference: str) -> Any:
    """The object that "package.module:name" names; raises ImportError or AttributeError."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def delete_damaged(error: BaseException) -> str | None:
    """Delete the compiled module that Python could not load, which would fail at each start; what to say, or None.

    A full disk and a power cut leave such files in ``__pycache__``.
    """
    for frame, _ in walk_tb(error.__traceback__):
        code = frame.f_code
        if code.co_name == "get_code" and code.co_filename.startswith("<frozen importlib"):
            file = frame.f_locals.get("bytecode_path")
            if file is not None:
                try:
                    os.unlink(file)
                except OSError:
                    return f"{file} is damaged: delete it, then repeat the command"
                return f"{file} was damaged, and is deleted: repeat the command"
    return None
