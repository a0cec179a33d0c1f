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
from langford.own_packages import require_files, require_own_packages
from langford.problem import Problem
from langford.version import __version__

if TYPE_CHECKING:
    from db.errors import BadName, CampaignMismatch, LedgerError, NoLedger, NoSuchCampaign
    from langford.counting import arrangements, count, estimate, plan
    from langford.devices import BadDevice, Device
    from langford.kernels.gpu.runtime import NoGpu
    from langford.ledger import Campaign, Ledger
    from langford.methods import Count, Plan, merge
    from langford.methods.backtracking.estimation import Estimate
    from langford.result import PartialResult
else:

    def __getattr__(name: str) -> object:
        """What takes long to load: the command line starts without numpy and numba, and the library without SQL."""
        require_files()
        match name:
            case "BadName" | "CampaignMismatch" | "LedgerError" | "NoLedger" | "NoSuchCampaign":
                require_own_packages()
                import db.errors as module
            case "arrangements" | "count" | "estimate" | "plan":
                import langford.counting as module
            case "BadDevice" | "Device":
                import langford.devices as module
            case "NoGpu":
                import langford.kernels.gpu.runtime as module
            case "Campaign" | "Ledger":
                require_own_packages()
                import langford.ledger as module
            case "Count" | "Plan" | "merge":
                import langford.methods as module
            case "Estimate":
                import langford.methods.backtracking.estimation as module
            case "PartialResult":
                import langford.result as module
            case _:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(module, name)
        return value


__all__ = [
    "BadDepth",
    "BadDevice",
    "BadInput",
    "BadName",
    "BadProblem",
    "BadSeed",
    "Campaign",
    "CampaignMismatch",
    "CheckFailed",
    "Count",
    "Device",
    "Estimate",
    "Incomplete",
    "LangfordError",
    "Ledger",
    "LedgerError",
    "MachineFailed",
    "MethodDoesNotApply",
    "NoGpu",
    "NoLedger",
    "NoSuchCampaign",
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


def __dir__() -> list[str]:
    return sorted(__all__)
