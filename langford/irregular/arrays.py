"""Arrays of NumPy and of CuPy: their module, and checks of what they hold."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

from langford.errors import BadInput

Array = Any
"""An array of NumPy or of CuPy."""
INDEX_TYPES = (np.int32, np.int64)


def module_of(*arrays: Array) -> ModuleType:
    """numpy or cupy: the module of the arrays; raises BadInput when they are neither, or not of one kind."""
    modules = {type(array).__module__.partition(".")[0] for array in arrays}
    if modules == {"numpy"}:
        return np
    if modules == {"cupy"}:
        return sys.modules["cupy"]
    kinds = sorted({f"{type(array).__module__}.{type(array).__name__}" for array in arrays})
    raise BadInput(f"expected only NumPy arrays, or only CuPy arrays, not {' and '.join(kinds)}")


def on_gpu(array: Array) -> bool:
    """Whether the array is CuPy's."""
    return module_of(array) is not np


def on_host(array: Array) -> Array:
    """The array in the memory of the host."""
    return array.get() if on_gpu(array) else array


def stable_order(keys: Array) -> Array:
    """The places of the keys in rising order, equal ones in theirs, int64[·]."""
    # CuPy's sort is always stable, and not every version of it takes a word for that.
    return keys.argsort() if on_gpu(keys) else np.argsort(keys, kind="stable")


def steps_to_end(following: Array) -> tuple[Array, Array]:
    """How many steps of linked lists lead from each element to the last one, which names itself; and which that is.

    Pointer jumping: after k rounds, every element knows the one 2ᵏ steps further.  A circle has no last one.
    """
    xp, n = module_of(following), len(following)
    following = following.astype(np.int64)
    steps = (following != xp.arange(n)).astype(np.int64)
    for _ in range(n.bit_length()):
        more = steps[following]
        if not bool(more.any()):
            break
        steps, following = steps + more, following[following]
    return steps, following


def require_indices(name: str, array: Array) -> None:
    """Raises BadInput unless the array is one row of int32 or int64."""
    module_of(array)
    if array.ndim != 1 or array.dtype not in INDEX_TYPES:
        raise BadInput(
            f"{name} must be a one-dimensional array of int32 or int64, not {array.dtype} of shape "
            f"{array.shape}: convert it"
        )


def require_length(name: str, array: Array, length: int, of: str, columns: bool = False) -> None:
    """Raises BadInput unless the array is one row of that length, or, with ``columns``, has that many rows."""
    module_of(array)
    if array.ndim < 1 or len(array) != length or (array.ndim > 1 and not columns):
        raise BadInput(f"{name} has shape {array.shape}; give {length:,} of them, one per {of}")


def require_choice(what: str, chosen: object, choices: Iterable[str]) -> None:
    """Raises BadInput unless the word is one of the choices."""
    if chosen not in tuple(choices):
        raise BadInput(f"{chosen!r} is not a valid {what}: choose one of {', '.join(choices)}")


def require_numbers(name: str, array: Array) -> None:
    """Raises BadInput unless all entries are integers, or finite numbers, of up to 64 bits."""
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise BadInput(
            f"{name} must be integers or floating-point numbers of up to 64 bits, not {array.dtype}: convert them"
        )
    if array.dtype.kind == "f":
        finite = module_of(array).isfinite(array)
        if not bool(finite.all()):
            place = int((~finite).argmax())
            raise BadInput(f"{name} number {place} is {array.flat[place]}: give finite numbers only")


MARGIN = 2**10
"""Kernels count up to this number beyond the end of a list."""


def offset_type(edges: int) -> type[np.signedinteger[Any]]:
    """The type of offsets into a list of edges: 64 bits when 32 are too few."""
    return np.int32 if edges < 2**31 - MARGIN else np.int64
