"""The entries of a table: which problems each of them counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from langford.errors import BadInput
from langford.problem import MOST_PLACES, Problem
from langford.variants import VARIANTS, Parameter

MAX_PROBLEMS = 10_000
"""In a table, counted or not."""
Shape = tuple[tuple[int, ...], int, int, tuple[int, ...]]
"""Differences, copies, places and empty places, read in the direction that makes these the smallest."""


@dataclass(frozen=True)
class Family:
    """What a table shows."""

    variant: str
    copies: int
    # first, last: the orders n, both included
    first: int
    last: int
    # The values of parameters, by their names in Python.  Of one that is missing the default is shown; of one
    # that has no default, all values that n allows.
    values: Mapping[str, range]
    summed: bool = False

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Those of which the table has a column: all without a default, and those that were chosen."""
        if self.summed:
            return ()
        return tuple(
            each
            for each in VARIANTS[self.variant].parameters
            if each.default is None or each.keyword in self.values
        )

    @property
    def words(self) -> str:
        """The table in words: "near-skolem, n = 2..8, missing = 1..n"."""
        shown = [f"n = {self.first}..{self.last}"]
        for parameter in VARIANTS[self.variant].parameters:
            chosen = self.values.get(parameter.keyword)
            if chosen is not None:
                shown.append(f"{parameter.name} = {_span(chosen)}")
            elif parameter.default is None:
                shown.append(f"every {parameter.name}")
        copies = "" if self.copies == 2 else f", {self.copies} copies"
        return f"{self.variant}{copies}, {', '.join(shown)}{', summed' if self.summed else ''}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of ``langford table`` that make this table."""
        words = [self.variant, str(self.last), "--from", str(self.first)]
        for parameter in VARIANTS[self.variant].parameters:
            if parameter.keyword in self.values:
                words += [f"--{parameter.name}", _span(self.values[parameter.keyword])]
        words += ["--copies", str(self.copies)] if self.copies != 2 else []
        return *words, *(["--sum"] if self.summed else [])


@dataclass(frozen=True)
class Entry:
    n: int
    values: tuple[int, ...]  # of the parameters that the table shows, in their order
    problems: tuple[Problem, ...]  # the number is the sum of their counts

    @property
    def obstruction(self) -> str | None:
        """By parity or room, for all of its problems."""
        reasons = [problem.obstruction for problem in self.problems]
        return reasons[0] if all(reasons) else None


def entries(family: Family) -> list[Entry]:
    """Raises BadProblem, or BadInput when there is none, or too many."""
    variant = VARIANTS[family.variant]
    if family.first > family.last:
        raise BadInput(f"no n is {family.first} or more and at most {family.last}: raise --to, or lower --from")
    variant.require_known(family.values)
    found: list[Entry] = []
    problems = 0
    for n in range(max(family.first, variant.least), family.last + 1):
        members = [
            (values, Problem.named(family.variant, n, family.copies, **values)) for values in _choices(family, n)
        ]
        if family.summed:
            found += [Entry(n, (), tuple(problem for _, problem in members))] if members else []
        else:
            keywords = [parameter.keyword for parameter in family.parameters]
            found += [
                Entry(n, tuple(values[keyword] for keyword in keywords), (problem,)) for values, problem in members
            ]
        problems += len(members)
        if problems > MAX_PROBLEMS:
            raise BadInput(f"{family.words} has more than {MAX_PROBLEMS:,} problems: choose a smaller --to")
    if not found:
        raise BadInput(f"{family.words} has no entry: raise --to, or choose other values of the parameters")
    return found


def representative(problem: Problem) -> Shape:
    """The same for two problems of which each is the other, or the other read backwards: they have one count."""
    backwards = tuple(sorted(problem.places + 1 - hole for hole in problem.empty))
    return problem.differences, problem.copies, problem.places, min(problem.empty, backwards)


def _choices(family: Family, n: int) -> Iterator[dict[str, int]]:
    """Two holes in ascending order."""

    def chosen(parameters: tuple[Parameter, ...]) -> Iterator[dict[str, int]]:
        if not parameters:
            yield {}
            return
        first, *others = parameters
        for value in _values(first, n, family.values.get(first.keyword)):
            for rest in chosen(tuple(others)):
                yield {first.keyword: value, **rest}

    for values in chosen(VARIANTS[family.variant].parameters):
        if values.get("hole", 0) < values.get("second_hole", n * n + 4):
            yield values


def _values(parameter: Parameter, n: int, given: range | None) -> range:
    """Those of the given values that n allows; of none the default, or all that n allows."""
    most = MOST_PLACES if parameter.most is None else parameter.most(n)
    if given is None:
        default = parameter.default
        return range(parameter.least, most + 1) if default is None else range(default, default + 1)
    return range(max(given.start, parameter.least), min(given.stop, most + 1))


def _span(values: range) -> str:
    return str(values[0]) if len(values) == 1 else f"{values[0]}..{values[-1]}"
