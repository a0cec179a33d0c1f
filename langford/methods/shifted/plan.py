"""The shifted sum, split into tasks.

With f_d the shifted factors (:mod:`langford.methods.shifted.forms`),

    N = Σ_x (Π x_k) Π_d f_d / 4            over all 2^(2n) sign vectors x = (u, v)

exactly: the multiplier is 1.  A task fixes the outer elements of u and those of v, each up to reversal where
u and v can be read backwards (then all of a task's u's come with their reversed images, which share the even
factors).  Where the row has a mirror, the summand is symmetric in the two packed integers: one task stands
for a pair of classes in both orders, with weight 2, but for two equal classes, which it evaluates as they are.
"""

from __future__ import annotations

from math import prod

import numpy as np

from langford.arithmetic import widths
from langford.methods.plan import Method, Plan
from langford.methods.polyphase.symmetries import prefix_classes, reversed_components
from langford.methods.shifted.components import Components, Integers
from langford.methods.shifted.forms import Forms
from langford.problem import Problem
from langford.result import Expectation


class ShiftedPlan(Plan):
    """Tasks are pairs of prefix classes: some outer elements of u and of v fixed, all others free.

    There are no trailing zero bits to check: no factor of a power of 2 is left in the sum.

    Attributes:
        forms: the factors.
        prefix_bits: elements of u, and elements of v, that a task fixes.
        product_bound: no |Π f_d / 4| exceeds it.
        sum_bound: no partial sum exceeds it in size.
    """

    def __init__(self, method: Method, problem: Problem, depth: int, seed: int = 0) -> None:
        super().__init__(method, problem, depth, seed)
        self.forms = Forms(problem, seed)
        self.multiplier = 1
        self.prefix_bits = depth // 2
        self.product_bound = prod(max(1, form.bound) for form in self.forms.all)
        self.sum_bound = widths.points(problem) * self.product_bound
        self._classes = self._prefix_classes()
        count = len(self._classes)
        everything = np.indices((count, count)).reshape(2, -1)
        first, second = np.triu_indices(count) if self.components.exchanged else everything
        self._pairs = np.stack([first, second], axis=1)
        sizes = np.array([len(prefixes) for prefixes in self._classes])
        free = len(problem.filled) - depth
        self.work = sizes[first] * sizes[second] * 2.0**free

    @property
    def components(self) -> Components:
        """The split into u and v."""
        return self.forms.components

    def _prefix_classes(self) -> list[list[int]]:
        """The prefixes of each class, ascending."""
        bits = self.prefix_bits
        if not self.components.reversible or bits % 2:
            return [[prefix] for prefix in range(1 << bits)]
        smallest, _ = prefix_classes(bits, 0, 0)
        return [sorted({prefix, int(image)}) for prefix, image in _with_image(smallest, bits)]

    def prefixes(self, index: int) -> tuple[list[int], list[int]]:
        """The prefixes of u and those of v that a task has; raises TaskIndexOutOfRange."""
        self.require(index)
        first, second = self._pairs[index]
        return self._classes[first], self._classes[second]

    def weight(self, index: int) -> int:
        """How many pairs of classes the task stands for; raises TaskIndexOutOfRange."""
        self.require(index)
        first, second = self._pairs[index]
        return 2 if self.components.exchanged and first != second else 1

    def expectation(self, index: int) -> Expectation:
        bound = self.weight(index) * int(self.work[index]) * self.product_bound
        return Expectation(0, -bound, bound)


def _with_image(prefixes: Integers, bits: int) -> list[tuple[int, int]]:
    """Each prefix with its image under reversal."""
    return list(zip(prefixes.tolist(), reversed_components(prefixes, bits).tolist(), strict=True))
