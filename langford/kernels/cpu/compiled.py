"""Compile each kernel once for all processes of this machine, and never load one kernel as another.

numba keeps all shapes of a kernel behind one index file, which every process reads, extends and writes again.
Two that do so at the same moment give two shapes the same file name, and later one shape is loaded as the other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
from numba import njit, types
from numba.core.caching import Cache, IndexDataCacheFile

from langford.kernels.cache import cache_folder, refusal, remedy, say_once
from langford.machine.folders import objection
from langford.machine.process import COMPILING, is_ours

if sys.platform != "win32":
    import fcntl


def part(function: Callable[..., Any], for_python: bool = False) -> Any:
    """Compile a part of kernels, which Python cannot call; no wrapper is compiled that nobody needs.

    A number that a caller has as a constant is compiled as any other: numba would compile the part again for each.
    """
    made: Any = njit(  # type: ignore[call-overload]
        cache=True, nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=not for_python
    )(function)
    template_for = made.get_call_template
    made.get_call_template = lambda args, kws: template_for(
        tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in kws.items()}
    )
    if not for_python:  # without a wrapper, a call would be one of address 0
        vars(made).update(_insert=lambda *_: None, _compile_for_args=_refuse)
    return made


def _refuse(*_: object) -> None:
    raise TypeError("only kernels can call this, it is compiled as a part of them")


kernel = partial(part, for_python=True)
"""Compiles a kernel, for Python and for other kernels."""


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold a lock on a file; it ends with the process.

    Where there are no locks (a full disk, a file system without them) this returns at once.
    """
    with ExitStack() as held:
        with suppress(OSError):
            stream = held.enter_context(file.open("a"))
            if sys.platform != "win32":
                fcntl.flock(stream, fcntl.LOCK_EX)
        yield


@contextmanager
def compiled_once(kernel: str, *shape: object, of: str | None = None) -> Iterator[None]:
    """A context for a kernel's first call in this process: one process compiles, the others wait and then load.

    There is one lock for all kernels, because they share functions.  A shape that was compiled before needs none.

    Args:
        kernel, shape: the name of the kernel, and the parameters that it is compiled for.
        of: what it belongs to, for the user; None: a method of the same name.
    """
    folder = cache_folder()
    compiled = folder / f"{'-'.join([kernel, *map(str, shape)])}.numba-{numba.__version__}"
    if compiled.exists():
        yield
        return
    with COMPILING.noted(f"of {of or kernel}"), locked(folder / "compiling.lock"):
        yield
        with suppress(OSError):
            compiled.touch()


def load_private_code() -> None:
    """Let numba load no code of ours from a folder where another user may have put it, and keep none there.

    Its index files are pickles: whoever writes one has any code run.  Folders are looked at each time, since numba
    reads its settings again before each compilation, also those in the working folder (``.numba_config.yaml``).
    """
    load, save = Cache.load_overload, Cache.save_overload

    def is_refused(kept: Cache) -> bool:
        # The functions of a program that uses this library are its own matter.
        module = getattr(getattr(kept, "_py_func", None), "__module__", __name__)
        if not is_ours() and module.partition(".")[0] != __name__.partition(".")[0]:
            return False
        folder = Path(kept.cache_path)
        try:
            reason = objection(folder)
        except OSError:
            return True
        if reason is not None:
            say_once(f"{refusal(folder, reason)}; {remedy('NUMBA_CACHE_DIR')}")
        return reason is not None

    def load_private(kept: Cache, signature: Any, target: Any) -> Any:
        return None if is_refused(kept) else load(kept, signature, target)

    def save_private(kept: Cache, signature: Any, data: Any) -> None:
        if not is_refused(kept):
            save(kept, signature, data)

    Cache.load_overload, Cache.save_overload = load_private, save_private  # type: ignore[method-assign]


def save_one_at_a_time() -> None:
    """Let numba extend its index files under a lock, also for kernels of other programs."""
    save = IndexDataCacheFile.save

    def save_alone(cache: IndexDataCacheFile, key: Any, data: Any) -> None:
        with locked(cache_folder() / "index.lock"):
            save(cache, key, data)

    IndexDataCacheFile.save = save_alone  # type: ignore[method-assign]


def spare_linear_algebra() -> None:
    """Load the parts of numba that every kernel needs, without SciPy's linear algebra, which numba would import.

    No kernel uses it, and where SciPy is installed it takes a third of the start of each process (0.24 of 0.75 s).
    Afterwards numba cannot compile ``numpy.dot`` in this process.
    """
    if "scipy.linalg" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]  # as the language reference says: not to be found
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules["scipy.linalg"]
