"""Bounds of the numbers in the algebraic methods; they are derived here only.

|S_d| is at most its number of terms, so products and sums over points have exact bounds;
the largest ones occur (all signs equal).  Bounds of empty sums are taken as 1.
"""

from __future__ import annotations

from math import prod

from langford.problem import Problem


def sum_bound(problem: Problem) -> int:
    """Largest |S_d| over all differences."""
    return max(1, *problem.terms.values())


def product_bound(problem: Problem, halved_evens: bool = False) -> int:
    """Largest |Π S_d| over all colours; with ``halved_evens`` the sums of even differences count half."""
    halves = (2 if halved_evens and d % 2 == 0 else 1 for d in problem.differences)
    return prod(max(1, problem.terms[d] // half) for d, half in zip(problem.differences, halves, strict=True))


def points(problem: Problem) -> int:
    """Number of sign vectors on the filled places."""
    return 1 << len(problem.filled)
