"""The rows of a table, and a b-file of them as the OEIS takes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jobs.tables.entries import Entry, Family
from langford.reference import known_of
from langford.variants import VARIANTS
from langford.version import __version__

NEW, ZERO, UNPROMISED = "new", "none can exist", "imported without a promise"
"""What is known of a count: no published value, a proof that it is 0, or no published value and no evidence but a
file; otherwise the published sequence that has it."""
FEW = 6


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
    rows: Sequence[Row]

    @property
    def up_to(self) -> str:
        """The symmetries whose images count once, in words; empty: none.  All numbers of a table count the same."""
        counted = {problem.up_to for row in self.rows for problem in row.entry.problems}
        return counted.pop() if len(counted) == 1 and not self.family.summed else ""

    def number(self, row: Row) -> int:
        return row.published if self.up_to else row.arrangements

    def known(self, row: Row) -> str:
        """NEW, ZERO, UNPROMISED, or the published sequence that has the number as the table shows it."""
        if row.entry.obstruction:
            return ZERO
        known = known_of(row.entry.problems)
        if known is not None:
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
        images = "rotations and reflections" if VARIANTS[self.family.variant].circle else "mirror images"
        counted = f"{images} counted {'once' if self.up_to else 'separately'}"
        yield f"{self.family.words}: the number of arrangements, {counted}"
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
            yield f"{which} of these were counted again by another sum ({others}), with the same outcome"
        elif found:
            yield "Each was counted once; residues, bounds and symmetries were checked"
        if any(row.unpromised for row in self.rows):
            imported = ", ".join(dict.fromkeys(str(row.entry.n) for row in self.rows if row.unpromised))
            yield f"Imported at n = {imported}: no promise recorded, and not counted again here"
        places: dict[str, dict[int, None]] = {}
        for row in self.rows:
            name, another_index, _ = self.known(row).partition("(")
            places.setdefault(f"{name}, by another index," if another_index else name, {})[row.entry.n] = None
        where = {known: ", ".join(map(str, ns)) for known, ns in places.items()}
        zeros = sum(bool(row.entry.obstruction) for row in self.rows)
        if zeros:
            yield f"{zeros} of {len(self.rows)} numbers are 0 by parity, or for the room that the row has"
        sequences = [known for known in where if known not in (NEW, ZERO, UNPROMISED)]
        for sequence in sequences:
            yield f"Equal to {sequence} at n = {where[sequence]}"
        if NEW in where:
            alone = where.keys() <= {NEW, ZERO}
            yield f"No published value is known to the program{'' if alone else f' at n = {where[NEW]}'}"
        yield f"Again: langford table {' '.join(self.family.arguments)} --confirm --format bfile"
