"""The entries of a table: which problems each of them counts; its rows, and a b-file of them for the OEIS."""

from __future__ import annotations

from collections import abc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from langford.errors import BadInput, BadProblem
from langford.problem import MAX_PLACES, Problem
from langford.problem.grammar import number, read, span, term_of
from langford.problem.reference import SEQUENCES, known_of
from langford.problem.sequences import Sequence
from langford.problem.variants import COPIES, FOLD, HOLES, SETS, SIZES, VARIANTS, Parameter
from langford.version import __version__
from langford.words import several

MAX_PROBLEMS = 10_000
"""In a table, counted or not."""
NEW, ZERO, UNPROMISED = "none known", "none can exist", "imported without a promise"
"""What is known of a count: no published value, a proof that it is 0, or no published value and no evidence but a
file; otherwise the published sequence that has it."""
FEW = 6


@dataclass(frozen=True)
class Family:
    """The problems of a table, as the user asks for them."""

    variant: str
    # Copies, fold and holes, by these words, where they are not the usual ones
    sizes: Mapping[str, int]
    # first, last: the orders n, both included
    first: int
    last: int
    # The values of parameters, by their names in Python.  Of one that is missing the default is shown; of one
    # that has no default, all values that n allows.
    values: Mapping[str, range]
    summed: bool = False
    # By whose indices the orders go, instead of a variant; None: there is a variant
    sequence: Sequence | None = None

    @classmethod
    def parse(cls, text: str, first: int | None = None, summed: bool = False) -> Family:
        """The family up to the order that words name; raises BadProblem.

        Args:
            text: like "near-skolem 10 missing 3..5" or "A004077 12".
            first: the smallest order; None: that of the family.
            summed: whether the problems of one order are added up.
        """
        term = term_of(text)
        if term is not None:
            if summed:
                raise BadInput(f"{term.sequence.name} has one number for each index: leave --sum out")
            least = term.sequence.first
            return cls(
                term.sequence.name, {}, least if first is None else first, term.index, {}, False, term.sequence
            )
        words = read(text)
        if words.family in SETS:
            raise BadProblem(f"{words.family} has no order, so there is no table: `langford count` counts one set")
        more = dict(words.more)
        sizes = {word: number(word, more.pop(word)) for word in SIZES if word in more}
        sizes = {word: value for word, value in sizes.items() if value != SIZES[word]}
        last = number("n", words.value)
        if last < 1:
            raise BadProblem(f"n must be at least 1, not {last}")
        spans = {word.replace("-", "_"): span(word, value) for word, value in more.items()}
        least = VARIANTS[words.family].least
        return cls(words.family, sizes, least if first is None else first, last, spans, summed)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Those of which the table has a column: all without a default, and those that were chosen."""
        if self.summed or self.sequence is not None:
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
        if self.sequence is not None:
            return f"{self.sequence.name} ({self.sequence.title}), {shown[0]}"
        for parameter in VARIANTS[self.variant].parameters:
            chosen = self.values.get(parameter.keyword)
            if chosen is not None:
                shown.append(f"{parameter.name} = {_span(chosen)}")
            elif parameter.default is None:
                shown.append(f"every {parameter.name}")
        words = {
            COPIES: lambda number: f"{number} copies",
            FOLD: lambda number: f"{number}-fold",
            HOLES: lambda number: f"{several(number, 'hole')} anywhere",
        }
        sizes = "".join(f", {words[word](value)}" for word, value in self.sizes.items())
        return f"{self.variant}{sizes}, {', '.join(shown)}{', summed' if self.summed else ''}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of ``langford table`` that make this table."""
        words = [self.variant, str(self.last)]
        for word, value in self.sizes.items():
            words += [word, str(value)]
        for parameter in VARIANTS[self.variant].parameters if self.sequence is None else ():
            if parameter.keyword in self.values:
                words += [parameter.name, _span(self.values[parameter.keyword])]
        return *words, "--from", str(self.first), *(["--sum"] if self.summed else [])


@dataclass(frozen=True)
class Entry:
    """One place of a table: its order, its parameters, and the problems that it counts."""

    n: int
    values: tuple[int, ...]  # of the parameters that the table shows, in their order
    problems: tuple[Problem, ...]  # the number is the sum of their counts; none: it is that of NO_COLOUR, 1

    @property
    def obstruction(self) -> str | None:
        """By parity or room, for all of its problems."""
        reasons = [problem.obstruction for problem in self.problems]
        return reasons[0] if reasons and all(reasons) else None


def entries(family: Family) -> list[Entry]:
    """Raises BadProblem, or BadInput when there is none, or too many."""
    if family.first > family.last:
        raise BadInput(f"no n is from {family.first} to {family.last}: choose a larger N, or a smaller --from")
    if family.sequence is not None:
        of, indices = (
            SEQUENCES[family.sequence.name],
            range(max(family.first, family.sequence.first), family.last + 1),
        )
        return [Entry(index, (), (of.problem(index),) if family.sequence.words(index) else ()) for index in indices]
    variant = VARIANTS[family.variant]
    variant.require_known(family.values)
    keywords = [parameter.keyword for parameter in family.parameters]
    found: list[Entry] = []
    problems = 0
    for n in range(max(family.first, variant.least), family.last + 1):
        members = [
            (tuple(map(values.__getitem__, keywords)), Problem.named(family.variant, n, **family.sizes, **values))
            for values in _choices(family, n)
        ]
        if family.summed and members:
            found.append(Entry(n, (), tuple(problem for _, problem in members)))
        elif not family.summed:
            found += [Entry(n, values, (problem,)) for values, problem in members]
        problems += len(members)
        if problems > MAX_PROBLEMS:
            raise BadInput(f"{family.words} has more than {MAX_PROBLEMS:,} problems: choose a smaller N")
    if not found:
        raise BadInput(f"{family.words} has no entry: choose a larger N, or other values of the parameters")
    return found


def _choices(family: Family, n: int) -> Iterator[dict[str, int]]:
    """The values of the parameters of each member."""
    parameters = VARIANTS[family.variant].parameters
    for chosen in product(*(_values(each, n, family.values.get(each.keyword)) for each in parameters)):
        values = {each.keyword: value for each, value in zip(parameters, chosen, strict=True)}
        if VARIANTS[family.variant].has(n, values):
            yield values


def _values(parameter: Parameter, n: int, given: range | None) -> range:
    """Those of the given values that n allows; of none the default, or all that n allows."""
    most = MAX_PLACES if parameter.most is None else parameter.most(n)
    if given is None:
        default = parameter.default
        return range(parameter.least, most + 1) if default is None else range(default, default + 1)
    return range(max(given.start, parameter.least), min(given.stop, most + 1))


def _span(values: range) -> str:
    return str(values[0]) if len(values) == 1 else f"{values[0]}..{values[-1]}"


@dataclass(frozen=True)
class Row:
    """One number of a table, and how it was found."""

    entry: Entry
    published: int  # the number as the literature counts it, mirror images once where there are any
    arrangements: int  # the number of all arrangements
    campaigns: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    # The methods of the campaigns that counted it again; none: it was counted once
    confirmed_by: tuple[str, ...] = ()
    seconds: float = 0.0  # computing time of all these campaigns
    sources: tuple[str, ...] = ()  # the kernels and devices that their results come from, in words
    # Whether files that record no promise were imported into every campaign of one of its problems
    unpromised: bool = False


@dataclass(frozen=True)
class Table:
    """The counts of a family; one row for each entry, in the order of the entries."""

    family: Family
    rows: abc.Sequence[Row]

    @cached_property  # asked for each number
    def up_to(self) -> str:
        """The symmetries whose images count once, in words; empty: none.  All numbers of a table count the same."""
        if self.family.sequence is not None and self.family.sequence.images:
            return ""
        counted = {problem.up_to for row in self.rows for problem in row.entry.problems}
        return counted.pop() if len(counted) == 1 and not self.family.summed else ""

    def number(self, row: Row) -> int:
        return row.published if self.up_to else row.arrangements

    def known(self, row: Row) -> str:
        """NEW, ZERO, UNPROMISED, or the published sequence that has the number as the table shows it."""
        if row.entry.obstruction:
            return ZERO
        known, own = known_of(row.entry.problems), self.family.sequence
        if own is not None and not row.entry.problems:
            return own.name
        if known is not None:
            if own is not None and (own.name, row.entry.n) in [(each.name, index) for each, index in known.sources]:
                return own.name
            return known.source(self.number(row), not self.up_to, row.entry.n)
        return UNPROMISED if row.unpromised else NEW

    @property
    def columns(self) -> tuple[str, ...]:
        parameters = (parameter.name for parameter in self.family.parameters)
        return ("n", *parameters, "count", "known", "method", "confirmed by", "seconds", "arrangements")

    def cells(self) -> Iterator[tuple[object, ...]]:
        """The rows for a table, CSV or JSON; counts are text."""
        for row in self.rows:
            yield (
                row.entry.n, *row.entry.values, str(self.number(row)), self.known(row), ", ".join(row.methods),
                ", ".join(row.confirmed_by), round(row.seconds, 3), str(row.arrangements),
            )  # fmt: skip

    def bfile(self) -> str:
        """The table in the form of the OEIS: lines "index number" below a header of comments."""
        by_rows = bool(self.family.parameters)
        numbers = [
            f"{index if by_rows else row.entry.n} {self.number(row)}" for index, row in enumerate(self.rows, 1)
        ]
        return "\n".join([*(f"# {line}" for line in self._header(by_rows)), *numbers, ""])

    def _header(self, by_rows: bool) -> Iterator[str]:
        yield f"{self.family.words}: the number of arrangements, {self._counted}"
        if by_rows:
            names = ", ".join(["n", *(parameter.name for parameter in self.family.parameters)])
            first = ", ".join(
                f"({', '.join(map(str, (each.entry.n, *each.entry.values)))})" for each in self.rows[:FEW]
            )
            dots = ", ..." if len(self.rows) > FEW else ""
            yield f"Read by rows: lines 1, 2, ... are those of ({names}) = {first}{dots}"
        methods = ", ".join(dict.fromkeys(method for row in self.rows for method in row.methods))
        if methods:
            yield f"Counted by langford {__version__}: {methods}"
            yield from sorted({words[:1].upper() + words[1:] for row in self.rows for words in row.sources})
        found = [row for row in self.rows if row.campaigns]
        confirmed = [row for row in found if row.confirmed_by]
        if confirmed:
            others = ", ".join(dict.fromkeys(method for row in confirmed for method in row.confirmed_by))
            which = "All" if len(confirmed) == len(found) else f"{len(confirmed)} of {len(found)}"
            yield f"{which} of these were counted again by another sum ({others}), with the same result"
        elif found:
            yield "Each was counted once; residues, bounds and symmetries were checked"
        if any(row.unpromised for row in self.rows):
            imported = ", ".join(dict.fromkeys(str(row.entry.n) for row in self.rows if row.unpromised))
            yield f"Imported at n = {imported}: no promise recorded, not counted again here"
        places: dict[str, dict[int, None]] = {}
        for row in self.rows:
            name, another_index, _ = self.known(row).partition("(")
            places.setdefault(f"{name}, by another index," if another_index else name, {})[row.entry.n] = None
        where = {known: ", ".join(map(str, ns)) for known, ns in places.items()}
        reasons = [row.entry.obstruction.partition(":")[0] for row in self.rows if row.entry.obstruction]
        if reasons:
            yield f"{len(reasons)} of {len(self.rows)} numbers are 0, {' or '.join(sorted({*reasons}))}"
        sequences = [known for known in where if known not in (NEW, ZERO, UNPROMISED)]
        for sequence in sequences:
            yield f"Equal to {sequence} at n = {where[sequence]}"
        unknown = dict.fromkeys(row.entry.n for row in self.rows if self.known(row) in (NEW, UNPROMISED))
        if unknown:
            at = f" at n = {', '.join(map(str, unknown))}" if sequences else ""
            yield f"No value known here{at}"
        yield f"Reproduce with: langford table {' '.join(self.family.arguments)} --confirm --format bfile"

    @property
    def _counted(self) -> str:
        """How often an arrangement and its images are counted.  (A hole of a circle leaves it no rotation.)"""
        full = [problem.circle and not problem.empty for row in self.rows for problem in row.entry.problems]
        images = "rotations and reflections" if any(full) else "mirror images"
        return f"{images} counted {'once' if self.up_to else 'separately'}"
