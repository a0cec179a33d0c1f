"""Keep compiled kernels between processes; one that cannot be read back is compiled again.

numba's own cache raises for ever where a file of it was cut, and uses what was changed in the middle of one.  It
keeps all shapes of a function behind one index file, which every process reads, extends and writes again: two that
do so at the same moment give two shapes the same file, and later one is loaded as the other.  Here each shape has a
file, with a digest (machine/kept.py) and with what it was compiled for.
"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import Cache, NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from langford.kernels.cache import kept_in
from langford.machine.kept import read, write
from langford.provenance import kernel_hash


class KernelCache(NullCache):
    """The compiled shapes of one function; has the interface of numba's caches."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled for these types by an earlier process; None: nothing."""
        target_context.refresh()
        shape = self._shape(sig, target_context.codegen())
        file = self._file(shape)
        content = None if file is None else read(file)
        # What cannot be rebuilt was written by other versions of what is beneath.
        with suppress(Exception):
            if content is not None:
                compiled_for, reduced = pickle.loads(content)
                if compiled_for == shape:
                    return CompileResult._rebuild(target_context, *reduced)  # noqa: SLF001 -- as numba's own caches
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, unless it holds addresses of this process."""
        shape = self._shape(sig, data.codegen)
        file = self._file(shape)
        lasts = all(part.can_cache for part in data.lifted) and not data.library.has_dynamic_globals
        if file is not None and lasts:
            write(file, dumps((shape, data._reduce())))  # noqa: SLF001

    def _shape(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        """What the code depends on."""
        function = self._function
        cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
        texts = (_source(inspect.getfile(function)), function.__code__.co_code, dumps(cells))
        versions = (numba.__version__, llvmlite.__version__, kernel_hash())
        return signature, codegen.magic_tuple(), *versions, *(sha256(text).hexdigest() for text in texts)

    def _file(self, shape: tuple[Any, ...]) -> Path | None:
        name = f"{self._function.__module__}.{self._function.__qualname__}".replace("<locals>.", "")
        return kept_in(f"{name[-100:]}-{sha256(repr(shape).encode()).hexdigest()[:24]}.nbc")


@cache
def _source(file: str) -> bytes:
    return Path(file).read_bytes()


def keep_all() -> None:
    """Have functions of others kept in the same way: those of methods that are added to this program."""

    def load(kept: Any, sig: Any, target_context: Any) -> Any:
        return KernelCache(kept._py_func).load_overload(sig, target_context)  # noqa: SLF001

    def save(kept: Any, sig: Any, data: Any) -> None:
        KernelCache(kept._py_func).save_overload(sig, data)  # noqa: SLF001

    Cache.load_overload, Cache.save_overload = load, save  # type: ignore[method-assign]
