"""The 64 terms of Godfrey's sum for L(2,3)."""

from __future__ import annotations

from matplotlib import pyplot
from matplotlib.figure import Figure

from docs.scripts.grids import MARK, PROBLEM, Signs, cell, labels, term
from langford.methods import METHODS
from langford.methods.godfrey.plan import GodfreyPlan, outside_in

TASK_DEPTH = 2
"""Signs that a task fixes in the picture."""


def gray(steps: int) -> list[int]:
    """0 … steps − 1 in Gray-code order: one bit changes at a time."""
    return [step ^ step >> 1 for step in range(steps)]


def sign_text(bits: int, count: int) -> str:
    """Signs as text, from the highest bit: 1 is minus."""
    return "".join("−" if bits >> count - 1 - k & 1 else "+" for k in range(count))


def points() -> list[list[Signs]]:
    """The 64 sign vectors: by the signs of the outer places down, of the inner ones across."""
    places = outside_in(PROBLEM)
    half = len(places) // 2

    def signs(bits: int, chosen: list[int]) -> Signs:
        return {place: -1 if bits >> len(chosen) - 1 - k & 1 else 1 for k, place in enumerate(chosen)}

    order = gray(2**half)
    return [[signs(down, places[:half]) | signs(across, places[half:]) for across in order] for down in order]


def figure() -> Figure:
    """All terms in the order of the walk, and those that a task evaluates."""
    grid = points()
    values = [[term(x) for x in row] for row in grid]
    largest = max(abs(value) for row in values for value in row)
    plan = METHODS["godfrey"].plan(PROBLEM, TASK_DEPTH)
    assert isinstance(plan, GodfreyPlan)
    [task] = plan.tasks
    negative = set(plan.negative_places(task))
    fixed = set(PROBLEM.filled) - set(plan.inner_places)

    def in_task(x: Signs) -> bool:
        return all((x[place] < 0) == (place in negative) for place in fixed)

    drawn, axes = pyplot.subplots(1, 2, figsize=(10, 5.3), layout="constrained")
    places = outside_in(PROBLEM)
    down, across = (f"signs of places {', '.join(map(str, half))}" for half in (places[:3], places[3:]))
    for axis in axes:
        for row, entries in enumerate(values):
            for column, value in enumerate(entries):
                cell(axis, column, row, value, largest, axis is axes[1] and not in_task(grid[row][column]))
        texts = [sign_text(bits, 3) for bits in gray(8)]
        labels(axis, texts, texts, down, across)
    total = sum(map(sum, values))
    axes[0].set_title(f"one sign changes at a time; total {total} = 64 · {total // 64}", fontsize=10)
    weight, kept = plan.weight(task), [term(x) for row in grid for x in row if in_task(x)]
    part = f"{weight} · {sum(kept)} = {weight * sum(kept)}"
    axes[1].set_title(f"{len(kept)} points in a task with weight {weight}: {part}", fontsize=10)
    columns = [column if row % 2 == 0 else 7 - column for row in range(8) for column in range(8)]
    across_of, down_of = [column + 0.5 for column in columns], [step // 8 + 0.22 for step in range(64)]
    axes[0].plot(across_of, down_of, color=MARK, linewidth=1.1, alpha=0.8)
    return drawn
