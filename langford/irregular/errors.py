"""What the algorithms on irregular structures raise besides the errors of the library."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from langford.errors import LangfordError, NotInstalled
from langford.version import install


class BadGraph(LangfordError):
    """Offsets and targets do not make a graph."""


class NoCycle(LangfordError):
    """The graph has no cycle, so there is no optimal one."""


class ZeroTime(LangfordError):
    """A cycle takes no time, or carries no token: its ratio does not exist.

    Attributes:
        vertices: of the cycle, in order; none for a cycle of events, which the message names.
    """

    def __init__(self, message: str, vertices: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.vertices = list(vertices)


class TooWide(LangfordError):
    """Exact potentials would need more than 62 bits."""


class TooLarge(LangfordError):
    """The data does not fit into memory."""


def require_scipy() -> None:
    """Raises NotInstalled where the extra ``irregular`` is not installed."""
    try:
        import_module("scipy.sparse.csgraph")
    except ImportError as error:
        raise NotInstalled(f"irregular problems need SciPy: {install('irregular')}") from error
