"""The pairs of L(2,3) that the polyphase sum visits."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from matplotlib import pyplot
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from docs.scripts.grids import MARK, PLACES, PROBLEM, cell, labels, term
from langford.kernels.symmetries import orbits, representatives
from langford.methods import METHODS
from langford.methods.polyphase.components import IMAGES, PolyphaseComponents, components


@dataclass(frozen=True)
class Pair:
    """A pair of components that stands for all its images.

    Attributes:
        u, v: signs of the odd and of the even places, in the order of the places.
        evens: product of the even sums, halved.
        images: the sum of the summand, its even sums halved, over the eight images.
        weight: how often it counts.
    """

    u: tuple[int, ...]
    v: tuple[int, ...]
    evens: int
    images: int
    weight: int


def unpacked(component: int, length: int) -> tuple[int, ...]:
    """The signs of a component in the order of its elements; see langford.kernels.symmetries."""
    signs = [0] * length
    for step in range(length):
        element = step // 2 if step % 2 == 0 else length - 1 - step // 2
        signs[element] = -1 if component >> length - 1 - step & 1 else 1
    return tuple(signs)


def even_parts(component: tuple[int, ...], split: PolyphaseComponents) -> tuple[int, ...]:
    """What a component adds to each even sum."""
    return tuple(sum(a * b for a, b in zip(component, component[lag:], strict=False)) for lag in split.even)


def summand(u: tuple[int, ...], v: tuple[int, ...], split: PolyphaseComponents) -> tuple[int, int]:
    """(product of the even sums, the whole summand), the even sums halved."""
    evens = prod((a + b) // 2 for a, b in zip(even_parts(u, split), even_parts(v, split), strict=True))
    x = dict(zip((*PLACES[::2], *PLACES[1::2]), (*u, *v), strict=True))
    return evens, term(x) // 2 ** len(split.even)


def pairs() -> list[Pair]:
    """The pairs that the method visits, with the weights of langford/methods/polyphase/plan.py."""
    split = components(PROBLEM)
    length = split.u_length
    masks = split.masks(length)
    us, sizes, limits = representatives(0, 2**length, length, *masks)
    visited = []
    for packed_u, u_size, limit in zip(us.tolist(), sizes.tolist(), limits.tolist(), strict=True):
        for packed_v in range(limit + 1):
            smallest, v_sizes = orbits(us[:1] * 0 + packed_v, length, *masks)
            if int(smallest[0]) != packed_v:
                continue
            u, v = unpacked(packed_u, length), unpacked(packed_v, length)
            images = 0
            for flip in (1, -1):
                for first in (u, u[::-1]):
                    for second in (v, v[::-1]):
                        a, b = (tuple(s * flip**k for k, s in enumerate(part)) for part in (first, second))
                        images += summand(a, b, split)[1]
            weight = (2 if packed_v < limit else 1) * u_size * int(v_sizes[0])
            visited.append(Pair(u, v, summand(u, v, split)[0], images, weight))
    return visited


def figure() -> Figure:
    """The even products of all pairs (u, v), and the pairs that are left after the symmetries."""
    split = components(PROBLEM)
    vectors = [tuple(-1 if bits >> 2 - k & 1 else 1 for k in range(3)) for bits in range(8)]
    products = [[summand(u, v, split)[0] for v in vectors] for u in vectors]
    largest = max(abs(value) for row in products for value in row)
    drawn, (grid, table) = pyplot.subplots(1, 2, figsize=(10, 5.3), width_ratios=[1.05, 1], layout="constrained")
    for row, entries in enumerate(products):
        for column, value in enumerate(entries):
            cell(grid, column, row, value, largest)
    visited = pairs()
    for pair in visited:
        corner = vectors.index(pair.v) + 0.06, vectors.index(pair.u) + 0.06
        grid.add_patch(Rectangle(corner, 0.88, 0.88, fill=False, edgecolor=MARK, linewidth=2))
    rows = [f"{_signs(u)}   {_parts(u, split)}" for u in vectors]
    columns = [f"{_signs(v)}\n{_parts(v, split)}" for v in vectors]
    labels(grid, rows, columns, "u: signs of places 1, 3, 5", "v: signs of places 2, 4, 6")
    alive = sum(value != 0 for row in products for value in row)
    grid.set_title(f"product of the even sums, halved: not 0 at {alive} of 64 points", fontsize=10)
    table.axis("off")
    lines = [["u", "v", "even\nproduct", "its eight\nimages", "weight", "adds"]]
    for pair in visited:
        numbers = pair.evens, pair.images, pair.weight, pair.images * pair.weight
        lines.append([_signs(pair.u), _signs(pair.v), *map(_number, numbers)])
    for row, line in enumerate(lines):
        for column, text in enumerate(line):
            weight = "normal" if row else "bold"
            table.text(column / 6 + 0.08, 0.86 - row * 0.1, text, ha="center", va="center", weight=weight)
    total = sum(pair.images * pair.weight for pair in visited)
    multiplier = METHODS["polyphase"].plan(PROBLEM, 0).multiplier
    words = f"total {total} = {multiplier} · {total // multiplier}"
    table.text(0.5, 0.86 - (len(lines) + 0.4) * 0.1, words, ha="center")
    table.set(xlim=(0, 1.03), ylim=(0, 1))
    table.set_title(f"{len(visited)} pairs stand for all 64; {IMAGES} points are evaluated", fontsize=10)
    return drawn


def _signs(component: tuple[int, ...]) -> str:
    return "".join("−" if sign < 0 else "+" for sign in component)


def _parts(component: tuple[int, ...], split: PolyphaseComponents) -> str:
    return ", ".join(_number(part) for part in even_parts(component, split))


def _number(number: int) -> str:
    return str(number).replace("-", "−")
