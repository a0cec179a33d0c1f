"""The shifted sum, split into tasks.

With f_d the shifted factors (:mod:`langford.methods.shifted.forms`),

    ±N = Σ_x (Π x_k) Π_d f_d / 4           over all 2^(2n) sign vectors x = (u, v)

exactly; the sign is taken in, and the multiplier is 1, or the number of orders of the colours that have one
difference.  (Where a place is fixed the sum is over all others.)  A
task fixes the outer elements of u and those of v, each up to reversal where u and v can be read backwards (then
all of a task's u's come with their reversed images, which share the even factors).  Where the row has a mirror, the
summand is symmetric in the two packed integers: one task stands for a pair of classes in both orders, with weight
2, but for two equal classes, which it evaluates as they are.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic import widths
from langford.kernels.symmetries import Integers, prefix_classes, reversed_components
from langford.methods.plan import Method, Plan
from langford.methods.shifted.tables import ShiftedShape
from langford.problem import Problem
from langford.result import Expectation, PartialResult

if TYPE_CHECKING:
    from langford.methods.shifted.forms import Forms


class ShiftedPlan(Plan):
    """Tasks are pairs of prefix classes: some outer elements of u and of v fixed, all others free.

    There are no trailing zero bits to check: no factor of a power of 2 is left in the sum.

    Attributes:
        outline: the factors, but for their signs: what is known at once.
        components: the split into u and v.
        shape: the widths of the numbers.
        prefix_bits: elements of u, and elements of v, that a task fixes.
        product_bound: no |Π f_d / 4| exceeds it.
        sum_bound: no partial sum exceeds it in size.
        classes: the prefixes of each class, ascending.
        pairs: int64[tasks, 2], the class of u's prefixes and that of v's prefixes of each task.
    """

    def __init__(self, method: Method, problem: Problem, depth: int, seed: int, forms: type[Forms]) -> None:
        """``forms``: the factors of this version of the sum."""
        super().__init__(method, problem, depth, seed)
        self._forms = forms
        self.outline = forms.outline(problem)
        self.components, self.shape = self.outline.components, ShiftedShape.of(self.outline)
        self.multiplier = problem.orders
        self.prefix_bits = depth // 2
        self.product_bound = prod(max(1, form.bound) for form in self.outline.all)
        self.sum_bound = widths.points(problem) * self.product_bound
        self.classes = self._prefix_classes()
        count = len(self.classes)
        everything = np.indices((count, count)).reshape(2, -1)
        first, second = np.triu_indices(count) if self.components.exchanged else everything
        self.pairs = np.stack([first, second], axis=1)
        sizes = np.array([len(prefixes) for prefixes in self.classes])
        free = len(self.components.u) + len(self.components.v) - depth
        self.work = sizes[first] * sizes[second] * 2.0**free

    @cached_property
    def forms(self) -> Forms:
        """The factors; finding their signs may take seconds, once for all depths."""
        return _forms(self._forms, self.outline.problem, self.seed)

    def _prefix_classes(self) -> list[list[int]]:
        """The prefixes of each class, ascending."""
        bits = self.prefix_bits
        if not self.components.reversible or bits % 2:
            return [[prefix] for prefix in range(1 << bits)]
        smallest, _ = prefix_classes(bits, 0, 0)
        return [sorted({prefix, int(image)}) for prefix, image in _with_image(smallest, bits)]

    def owners(self, other: Plan) -> NDArray[np.int64] | None:
        """See :meth:`Plan.owners`.  Longer prefixes begin with shorter ones, and so do their classes, unless
        a prefix and its reverse are one class there and two here."""
        if not isinstance(other, ShiftedPlan) or replace(other.key, depth=self.depth) != self.key:
            return None
        if other.depth < self.depth or not self._is_refined_by(other.prefix_bits):
            return None
        classes = np.empty(1 << self.prefix_bits, np.int64)
        for number, prefixes in enumerate(self.classes):
            classes[prefixes] = number
        shortest = np.array([prefixes[0] for prefixes in other.classes])
        own = classes[shortest >> (other.prefix_bits - self.prefix_bits)]
        tasks = np.empty((len(self.classes), len(self.classes)), np.int64)
        first, second = self.pairs.T
        if self.components.exchanged:
            tasks[second, first] = self.tasks
        tasks[first, second] = self.tasks
        owners: NDArray[np.int64] = tasks[own[other.pairs[:, 0]], own[other.pairs[:, 1]]]
        return owners

    def deeper(self) -> Plan | None:
        """See :meth:`Plan.deeper`: the next depth whose tasks belong to tasks of this plan."""
        depths = self.method.depths(self.problem)
        deeper = (depth for depth in depths if depth > self.depth and self._is_refined_by(depth // 2))
        return next((self.method.plan(self.problem, depth, self.seed) for depth in deeper), None)

    def _is_refined_by(self, prefix_bits: int) -> bool:
        """Whether each class of prefixes of this length begins with prefixes of one class of this plan."""
        return not self.components.reversible or self.prefix_bits % 2 == 0 or prefix_bits % 2 == 1

    def prefixes(self, index: int) -> tuple[list[int], list[int]]:
        """The prefixes of u and those of v that a task has; raises TaskIndexOutOfRange."""
        self.require(index)
        first, second = self.pairs[index]
        return self.classes[first], self.classes[second]

    def weight(self, index: int) -> int:
        """How many pairs of classes the task stands for; raises TaskIndexOutOfRange."""
        self.require(index)
        first, second = self.pairs[index]
        return 2 if self.components.exchanged and first != second else 1

    def multiple(self, index: int) -> int:
        """What the sum over the points of a task counts: its weight, with the sign of the whole sum."""
        return self.outline.sign * self.weight(index)

    def expectation(self, index: int) -> Expectation:
        weight = self.weight(index)
        points = int(self.work[index])
        bound = weight * points * self.product_bound
        return Expectation(0, -bound, bound, points)

    def terms(self, result: PartialResult) -> int:
        return self.weight(result.index) * result.evaluated


@lru_cache(maxsize=4)
def _forms(family: type[Forms], problem: Problem, seed: int) -> Forms:
    """The factors of a family, which keep the signs that they have found; the last few are kept."""
    return family(problem, seed)


def _with_image(prefixes: Integers, bits: int) -> list[tuple[int, int]]:
    """Each prefix with its image under reversal."""
    return list(zip(prefixes.tolist(), reversed_components(prefixes, bits).tolist(), strict=True))
