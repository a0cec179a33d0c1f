"""Compile each kernel once for all processes of this machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import Any

import numba
from numba import njit, types
from numba.core.ccallback import CFunc

from langford.kernels.cache import kept_in
from langford.kernels.cpu.keeping import KernelCache
from langford.machine.kept import locked
from langford.machine.process import COMPILING


def part(function: Callable[..., Any], for_python: bool = False) -> Any:
    """Compile a part of kernels, which Python cannot call; no wrapper is compiled that nobody needs.

    A number that a caller has as a constant is compiled as any other: numba would compile the part again for each.
    """
    made: Any = njit(  # type: ignore[call-overload]
        nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=not for_python
    )(function)
    vars(made).update(_cache=KernelCache(function))
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


def callback(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compiles a function of that signature, which kernels call by its address; as ``numba.cfunc`` does."""

    def compiled(function: Callable[..., Any]) -> Any:
        made: Any = CFunc(function, (signature.args, signature.return_type), {}, {})
        vars(made).update(_cache=KernelCache(function))
        made.compile()
        return made

    return compiled


@contextmanager
def compiled_once(kernel: str, *shape: object, of: str | None = None) -> Iterator[None]:
    """A context for a kernel's first call in this process: one process compiles, the others wait and then load.

    There is one lock for all kernels, because they share functions.  A shape that was compiled before needs none.
    Nobody waits for ever (:func:`langford.machine.kept.locked`): two that compile the same only lose time.

    Args:
        kernel, shape: the name of the kernel, and the parameters that it is compiled for.
        of: what it belongs to, for the user; None: a method of the same name.
    """
    compiled = kept_in(f"{'-'.join([kernel, *map(str, shape)])}.numba-{numba.__version__}")
    if compiled is not None and compiled.exists():
        yield
        return
    with ExitStack() as held:
        held.enter_context(COMPILING.noted(f"of {of or kernel}"))
        if compiled is not None:
            held.enter_context(locked(compiled.with_name("compiling.lock")))
        yield
        with suppress(OSError):
            if compiled is not None:
                compiled.touch()


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
