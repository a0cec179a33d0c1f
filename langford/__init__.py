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
    from db.errors import BadName, CampaignMismatch, LedgerError, NoLedger, NoSuchCampaign
    from langford.counting import arrangements, count, estimate, plan
    from langford.devices import BadDevice, Device
    from langford.kernels.gpu.runtime import NoGpu
    from langford.ledger import Campaign, Ledger
    from langford.methods import Count, Plan, merge
    from langford.methods.backtracking.estimation import Estimate
    from langford.result import PartialResult
else:
    # The command line starts without numpy and numba, and the library without SQL.
    __getattr__ = loading(
        globals(),
        {
            "db.errors": "BadName CampaignMismatch LedgerError NoLedger NoSuchCampaign",
            "langford.counting": "arrangements count estimate plan",
            "langford.devices": "BadDevice Device",
            "langford.kernels.gpu.runtime": "NoGpu",
            "langford.ledger": "Campaign Ledger",
            "langford.methods": "Count Plan merge",
            "langford.methods.backtracking.estimation": "Estimate",
            "langford.result": "PartialResult",
        },
    )

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
