"""Cases that repeat what others of their test show: CI runs them, the README's command does not.

A test with many cases keeps some of them for everyday use, at least one of each kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet


def exhaustive(cases: Iterable[Any]) -> list[ParameterSet]:
    """These cases, marked; a tuple holds a value for each name."""
    return [
        case._replace(marks=[*case.marks, pytest.mark.exhaustive])
        if isinstance(case, ParameterSet)
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.exhaustive)
        for case in cases
    ]


def few(cases: Iterable[Any], kept: int) -> list[Any]:
    """All cases in their order, of which two or more are kept: the first, the last, and others evenly between."""
    listed = list(cases)
    assert 2 <= kept < len(listed), "or else mark the test, or none of its cases"
    chosen = {round(step * (len(listed) - 1) / (kept - 1)) for step in range(kept)}
    marked = exhaustive(listed)
    return [case if number in chosen else marked[number] for number, case in enumerate(listed)]
