"""What the searches can count: rows of at most two machine words, and differences that fit into one."""

from __future__ import annotations

from langford.problem import Problem

WORD_PLACES, MAX_PLACES, MAX_DIFFERENCE = 64, 128, 63


def refusal(problem: Problem) -> str | None:
    """Backtracking keeps the row in one machine word or two, and the colours in one."""
    if problem.circle and problem.places > WORD_PLACES:
        return f"backtracking keeps a circle in {WORD_PLACES} bits; {problem.places} places do not fit"
    if problem.places > MAX_PLACES:
        return f"backtracking keeps the row in {MAX_PLACES} bits; {problem.places} places do not fit"
    if problem.differences[-1] > MAX_DIFFERENCE:
        return f"backtracking takes differences up to {MAX_DIFFERENCE}, not {problem.differences[-1]}"
    return None
