"""The b-files in docs/tables: each line up to n = 12 is counted again, and those beyond are at least possible."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

import langford
from jobs.tables.entries import Entry, Family, entries, representative
from jobs.tables.rows import Row, Table
from langford.cli.options.types import span
from langford.reference import published
from langford.variants import PARAMETERS, VARIANTS

FILES = sorted((Path(__file__).parents[2] / "docs" / "tables").glob("*.txt"))
COUNTED_UP_TO = 12


def family_of(header: list[str]) -> Family:
    """What a b-file shows, by the command in its header that makes it again."""
    words = header[-1].removeprefix("# Again: langford table ").split()
    parser = argparse.ArgumentParser()
    parser.add_argument("family")
    parser.add_argument("--from", type=int, dest="first")
    parser.add_argument("--to", type=int, dest="last")
    parser.add_argument("--copies", type=int, default=2)
    parser.add_argument("--sum", action="store_true")
    parser.add_argument("--confirm", action="store_true")
    parser.add_argument("--format")
    for parameter in PARAMETERS.values():
        parser.add_argument(f"--{parameter.name}", type=span)
    read = vars(parser.parse_args(words))
    spans = {each.keyword: read[each.keyword] for each in PARAMETERS.values() if read[each.keyword] is not None}
    return Family(read["family"], read["copies"], read["first"], read["last"], spans, read["sum"])


def counted(entry: Entry, known: dict[object, int]) -> Row:
    """The row of an entry, counted here; rows that mirror each other once."""
    sums = []
    for problem in entry.problems:
        shape = representative(problem)
        if shape not in known:
            plan = langford.plan(problem)
            known[shape] = langford.merge(plan, map(plan.evaluate, plan.tasks)).arrangements
        sums.append((problem.published(known[shape]), known[shape]))
    return Row(entry, *map(sum, zip(*sums, strict=True)))


def test_there_is_a_table_of_every_family() -> None:
    headers = [file.read_text().splitlines()[0] for file in FILES]
    shown = {header.removeprefix("# ").split(",")[0] for header in headers}
    assert shown == {*VARIANTS}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_lines_of_a_table_are_right(file: Path) -> None:
    lines = file.read_text().splitlines()
    header = [line for line in lines if line.startswith("# ")]
    numbers = [tuple(map(int, line.split())) for line in lines[len(header) :]]
    family = family_of(header)
    wanted = entries(family)
    assert [index for index, _ in numbers] == (
        list(range(1, len(wanted) + 1)) if family.parameters else [entry.n for entry in wanted]
    )
    known: dict[object, int] = {}
    table = Table(family, [Row(entry, 0, 0) for entry in wanted])
    small = [entry.n <= COUNTED_UP_TO for entry in wanted]
    assert any(small)
    wrong = []
    for entry, (_, number), counts in zip(wanted, numbers, small, strict=True):
        if counts and number != table.number(counted(entry, known)):
            wrong.append(entry)
        if not counts and bool(number) == bool(entry.obstruction):
            wrong.append(entry)
        value = published(entry.problems[0])
        if len(entry.problems) == 1 and value is not None and number != value:
            wrong.append(entry)
    assert not wrong
    assert "All of these were counted again by another sum" in "\n".join(header)
