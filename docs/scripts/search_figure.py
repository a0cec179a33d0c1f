"""The search trees of L(2,3): every way, and what the two backtracking methods look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from docs.scripts.grids import NEGATIVE, PLACES, PROBLEM, starts
from langford.methods.backtracking.order import SearchOrder, colours_in_order
from langford.methods.backtracking.plan import TEST_FREE

COLOURS = {1: "#e9c46a", 2: "#8ab17d", 3: "#7ea6d8"}
CELL = 0.14
"""Width of a place in a drawn row."""


@dataclass
class Node:
    """A row with some colours placed.

    Attributes:
        cubes: the colours at each place; two where one was put on another.
        below: the rows that are tried next.
        words: what stands under it.
    """

    cubes: dict[int, list[int]]
    below: list[Node] = field(default_factory=list)
    words: str = ""

    @property
    def fits(self) -> bool:
        """Whether no place holds two cubes."""
        return all(len(colours) == 1 for colours in self.cubes.values())

    def with_colour(self, difference: int, first: int) -> Node:
        """The row with one more colour, whether it fits or not."""
        colour = difference - 1
        cubes = {place: list(colours) for place, colours in self.cubes.items()}
        for place in (first, first + difference):
            cubes.setdefault(place, []).append(colour)
        return Node(cubes)

    def all(self) -> Iterator[Node]:
        """This row and all below it."""
        yield self
        for node in self.below:
            yield from node.all()


def _roots(order: SearchOrder) -> list[int]:
    """Places of the first cube of the first colour: of a placement and its mirror image only one."""
    difference = order.differences[0]
    return [
        first for first in starts(difference) if not order.halved or first < PROBLEM.places + 1 - first - difference
    ]


def plain_tree() -> Node:
    """Every colour in every way, the largest first; what does not fit ends there."""

    def grow(node: Node, differences: tuple[int, ...]) -> None:
        if not differences:
            node.words = "arrangement"
        for first in starts(differences[0]) if differences else ():
            child = node.with_colour(differences[0], first)
            node.below.append(child)
            if child.fits:
                grow(child, differences[1:])

    tree = Node({})
    grow(tree, PROBLEM.differences[::-1])
    return tree


def miller_tree() -> Node:
    """The first half of the colours in order; then the lowest free place takes one of the others."""
    order = SearchOrder.of(PROBLEM)

    def fill(node: Node, unused: tuple[int, ...]) -> None:
        lowest = next(place for place in PLACES if place not in node.cubes)
        for difference in unused:
            if lowest + difference not in PLACES:
                continue
            child = node.with_colour(difference, lowest)
            node.below.append(child)
            rest = tuple(other for other in unused if other != difference)
            if child.fits and rest:
                fill(child, rest)
            elif child.fits:
                child.words = f"{order.weight} arrangements"

    tree = Node({})
    assert colours_in_order(PROBLEM.n) == 1
    for first in _roots(order):
        tree.below.append(tree.with_colour(order.differences[0], first))
        fill(tree.below[-1], order.differences[1:])
    return tree


def regular_tree() -> Node:
    """The last colours but one in every way without a test, then one test for what is left."""
    order = SearchOrder.of(PROBLEM)
    assert PROBLEM.n - TEST_FREE == 1
    middle, last = order.differences[1:]
    tree = Node({})
    for first in _roots(order):
        root = tree.with_colour(order.differences[0], first)
        tree.below.append(root)
        for second in starts(middle):
            leaf = root.with_colour(middle, second)
            free = [place for place in PLACES if place not in leaf.cubes]
            passed = leaf.fits and free[1] - free[0] == last
            leaf.words = f"{order.weight} arrangements" if passed else "no"
            root.below.append(leaf)
    return tree


def tried(tree: Node) -> int:
    """Placements that a search looks at."""
    return sum(1 for _ in tree.all()) - 1


def _width(node: Node) -> float:
    """Leaves below a row, at least 1."""
    return sum(map(_width, node.below)) or 1


def _draw_tree(
    axis: Axes, node: Node, corner: tuple[float, float], level: int = 0, parent: tuple[float, float] | None = None
) -> None:
    """Draw a row in the middle of the room that it has to the right of a corner, and those below it."""
    left, top = corner
    x, y = left + _width(node) / 2, top - 1.2 * level
    if parent:
        axis.plot([parent[0], x], [parent[1] - 0.2, y + 0.2], color="#999999", linewidth=0.8, zorder=0)
    for place in PLACES:
        colours = node.cubes.get(place, [])
        cell = x + (place - 1 - PROBLEM.places / 2) * CELL
        shade = "#ffffff" if not colours else COLOURS[colours[0]] if len(colours) == 1 else NEGATIVE
        axis.add_patch(Rectangle((cell, y - 0.15), CELL, 0.3, facecolor=shade, edgecolor="#777777", linewidth=0.6))
        text = "×" if len(colours) > 1 else str(colours[0]) if colours else ""
        ink = "white" if len(colours) > 1 else "black"
        axis.text(cell + CELL / 2, y - 0.01, text, ha="center", va="center", fontsize=8, color=ink)
    axis.text(x, y - 0.33, node.words, ha="center", va="center", fontsize=8, color="#333333")
    for child in node.below:
        _draw_tree(axis, child, (left, top), level + 1, (x, y))
        left += _width(child)


def figure() -> Figure:
    """The search trees."""
    drawn, axis = pyplot.subplots(figsize=(8.6, 6.6), layout="constrained")
    for tree, name, corner in (
        (plain_tree(), "every colour in every way", (0.0, 0.0)),
        (miller_tree(), "miller", (1.5, -5.3)),
        (regular_tree(), "regular", (7.5, -5.3)),
    ):
        _draw_tree(axis, tree, corner)
        title = f"{name}: {tried(tree)} placements tried"
        axis.text(corner[0] + _width(tree) / 2, corner[1] + 0.5, title, ha="center", fontsize=10)
    axis.set(xlim=(0, _width(plain_tree())), ylim=(-9.5, 0.8))
    axis.axis("off")
    return drawn
