"""Timed event graphs: events that wait for one another, and the cycle that sets their pace."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from numbers import Integral

import numpy as np

from langford.errors import BadInput
from langford.irregular.cycles.optimal import cycle_ratio, in_words, timeless_cycle
from langford.irregular.errors import NoCycle, TooWide, ZeroTime
from langford.irregular.graphs.graph import Graph
from langford.irregular.policies import BITS


@dataclass(frozen=True)
class Period:
    """The pace of an event graph.

    Attributes:
        value: time from one occurrence of an event to the next, in the long run: delays per token of the critical
            cycle.
        critical: the events of the critical cycle, in order.
    """

    value: Fraction
    critical: list[str]


class EventGraph:
    """Named events.  The k-th occurrence of an event waits for occurrence k − tokens of each event before it, and
    for the delay after that."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._arcs: list[tuple[int, int, Fraction, int]] = []

    @property
    def events(self) -> list[str]:
        """The names, in the order in which they were added."""
        return list(self._numbers)

    def add(self, before: str, after: str, delay: int | float | Fraction, tokens: int = 0) -> None:
        """Let ``after`` wait for ``before``.

        Args:
            before, after: names of events.
            delay: time between them, not negative; a float counts as the decimal number that it is written as.
            tokens: how many occurrences of ``after`` need not wait at the start.

        Raises BadInput.
        """
        try:
            exact = Fraction(str(delay))
        except (ValueError, ZeroDivisionError) as error:
            raise BadInput(f"the delay from {before} to {after} is {delay}: give a finite number") from error
        if exact < 0 or tokens < 0:
            raise BadInput(f"from {before} to {after}: delays and tokens are not negative")
        if not isinstance(tokens, Integral) or tokens >= 2**BITS:
            raise BadInput(
                f"from {before} to {after} there are {tokens} tokens: give a whole number of up to {BITS} bits"
            )
        ends = [self._numbers.setdefault(name, len(self._numbers)) for name in (before, after)]
        self._arcs.append((ends[0], ends[1], exact, int(tokens)))

    def period(self) -> Period:
        """The pace, and the critical cycle that sets it.

        Raises NoCycle, ZeroTime when a cycle without a token never starts, or TooWide.
        """
        events = self.events
        sources, targets = (np.array([arc[end] for arc in self._arcs], np.int32) for end in (0, 1))
        graph = Graph.from_edges(len(self._numbers), sources, targets)
        unit = lcm(*(arc[2].denominator for arc in self._arcs))
        delays = [int(arc[2] * unit) for arc in self._arcs]
        if max(delays, default=0) >= 2**BITS:
            raise TooWide(f"the delays need more than {BITS} bits as whole numbers: round them")
        tokens = np.array([arc[3] for arc in self._arcs], np.int64)[graph.order]
        waiting = timeless_cycle(graph, tokens)
        if waiting:
            named = in_words([events[vertex] for vertex in waiting])
            raise ZeroTime(f"the cycle {named} has no token and never starts: give it one")
        try:
            optimal = cycle_ratio(graph, np.array(delays, np.int64)[graph.order], tokens, maximum=True)
        except NoCycle as error:
            raise NoCycle("the graph has no cycle, so no event repeats: close a cycle") from error
        except TooWide as error:
            raise TooWide(f"sums of delays and tokens need more than {BITS} bits: round the delays") from error
        return Period(Fraction(optimal.value) / unit, [events[vertex] for vertex in optimal.vertices.tolist()])
