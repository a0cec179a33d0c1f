"""Count Langford pairings and their relatives, exactly.

    >>> import langford
    >>> langford.count(12)
    <Count L(2,12) = 108144>

The functions and classes of ``__all__`` are the library's public face.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langford.errors import (
    BadDepth,
    BadInput,
    BadProblem,
    BadSeed,
    CheckFailed,
    Incomplete,
    LangfordError,
    MachineFailed,
    MethodDoesNotApply,
    NotInstalled,
    TaskIndexOutOfRange,
    TooExpensive,
    WrongResult,
)
from langford.loading import loading
from langford.problem import Problem
from langford.version import __version__

if TYPE_CHECKING:
    from langford.counting import arrangements, count, estimate, plan
    from langford.devices import Device
    from langford.ledger import Campaign, Ledger
    from langford.methods import Count, Plan, merge
    from langford.methods.backtracking.estimation import Estimate
    from langford.result import PartialResult

__all__ = [
    "BadDepth",
    "BadInput",
    "BadProblem",
    "BadSeed",
    "Campaign",
    "CheckFailed",
    "Count",
    "Device",
    "Estimate",
    "Incomplete",
    "LangfordError",
    "Ledger",
    "MachineFailed",
    "MethodDoesNotApply",
    "NotInstalled",
    "PartialResult",
    "Plan",
    "Problem",
    "TaskIndexOutOfRange",
    "TooExpensive",
    "WrongResult",
    "__version__",
    "arrangements",
    "count",
    "estimate",
    "merge",
    "plan",
]

# The command line starts without numpy and numba, and the library without SQL.
__getattr__ = loading(
    globals(),
    {
        "arrangements": "langford.counting",
        "count": "langford.counting",
        "estimate": "langford.counting",
        "plan": "langford.counting",
        "Device": "langford.devices",
        "Estimate": "langford.methods.backtracking.estimation",
        "Campaign": "langford.ledger",
        "Ledger": "langford.ledger",
        "Count": "langford.methods",
        "Plan": "langford.methods",
        "merge": "langford.methods",
        "PartialResult": "langford.result",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
