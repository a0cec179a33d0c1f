"""Errors of the algorithms on irregular structures, one class per cause."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from langford.errors import LangfordError


class BadArray(LangfordError):
    """The algorithms do not take an array of this type or shape, or at this place."""


class BadChoice(LangfordError):
    """A direction, an operator, a method or a device does not exist."""


class BadGraph(LangfordError):
    """Offsets and targets do not make a graph."""


class BadRoot(LangfordError):
    """A root is not a vertex of the graph."""


class BadTree(LangfordError):
    """Parents do not make a forest."""


class BadLength(LangfordError):
    """An array has another length than the graph, or the tree, that it belongs to."""


class BadWeights(LangfordError):
    """Weights or times are not numbers that can be added up, or times are negative."""


class NoInverse(LangfordError):
    """The method undoes the operator, and this operator or value cannot be undone."""


class ZeroPivot(LangfordError):
    """The factorisation of a matrix meets a pivot of zero."""


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


class BadFile(LangfordError):
    """A line of a file is not what the command reads."""


class BadScenario(LangfordError):
    """The scenario of a client, or an event graph, contradicts itself."""


class NoScipy(LangfordError):
    """SciPy is not installed."""


def require_scipy() -> None:
    """Raises NoScipy where the extra ``irregular`` is not installed."""
    try:
        import_module("scipy.sparse.csgraph")
    except ImportError as error:
        raise NoScipy("irregular problems need SciPy: pip install 'langford[irregular]'") from error
