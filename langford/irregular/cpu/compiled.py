"""Kernels that many processes of this machine may need at the same time: one of them compiles."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from langford.kernels.cpu import compiled as counting


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function when it is first called with arguments of new types; others that need it wait and load.

    For those that Python calls; their parts are compiled with them (:func:`langford.kernels.cpu.compiled.part`).
    """
    dispatcher = counting.kernel(function)
    called: set[tuple[str, ...]] = set()

    @wraps(function)
    def call(*arguments: Any) -> Any:
        kinds = tuple(_kind(argument) for argument in arguments)
        if kinds in called:
            return dispatcher(*arguments)
        room = function.__module__.rpartition(".")[2]
        with counting.compiled_once(f"irregular-{room}-{function.__name__}", *kinds, of=room):
            result = dispatcher(*arguments)
        called.add(kinds)
        return result

    return call


def _kind(argument: Any) -> str:
    """The type for which numba compiles, in short."""
    if isinstance(argument, np.ndarray):
        return f"{argument.dtype.str[1:]}x{argument.ndim}"
    return type(argument).__name__
