"""Count Langford pairings and their relatives, exactly.

    >>> import langford
    >>> langford.count(12)
    108144

The functions and classes of ``__all__`` are the library's public face.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langford.loading import load
from langford.problem import Problem
from langford.version import __version__

if TYPE_CHECKING:
    from langford.counting import arrangements, count, estimate, plan
    from langford.devices import Device
    from langford.estimation import Estimate
    from langford.methods import Count, Plan, merge
    from langford.result import PartialResult

__all__ = [
    "Count",
    "Device",
    "Estimate",
    "PartialResult",
    "Plan",
    "Problem",
    "__version__",
    "arrangements",
    "count",
    "estimate",
    "merge",
    "plan",
]

_MODULES = {
    "arrangements": "langford.counting",
    "count": "langford.counting",
    "estimate": "langford.counting",
    "plan": "langford.counting",
    "Device": "langford.devices",
    "Estimate": "langford.estimation",
    "Count": "langford.methods",
    "Plan": "langford.methods",
    "merge": "langford.methods",
    "PartialResult": "langford.result",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: the command line starts without numpy and numba."""
    if name not in _MODULES:
        raise AttributeError(f"module 'langford' has no attribute {name!r}")
    value = globals()[name] = load(f"{_MODULES[name]}:{name}")
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
