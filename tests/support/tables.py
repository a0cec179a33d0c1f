"""The b-files in docs/tables."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jobs.tables.entries import Entry, Family, entries
from langford.cli.campaigns.table import table as command
from langford.problem import Problem

TABLES = Path(__file__).parents[2] / "docs" / "tables"


def family_of(header: list[str]) -> Family:
    """What a b-file shows, by the command in its header that makes it again."""
    words = header[-1].removeprefix("# Reproduce with: langford table ").split()
    with command.make_context("table", words) as context:
        read = context.params
    return Family.parse(" ".join(read["words"]), read["first"], read["summed"])


def read_table(file: Path) -> tuple[list[str], list[tuple[int, int]]]:
    """The header of a b-file, and the index and the number of each line."""
    lines = file.read_text().splitlines()
    header = [line for line in lines if line.startswith("# ")]
    numbers = [(int(index), int(number)) for index, number in map(str.split, lines[len(header) :])]
    return header, numbers


@cache
def numbers_of(file: Path) -> dict[Entry, int]:
    """The entries of a b-file with their numbers."""
    header, numbers = read_table(file)
    return {entry: number for entry, (_, number) in zip(entries(family_of(header)), numbers, strict=True)}


def number_in_tables(problem: Problem) -> int | None:
    """The number of a problem in the tables of its family; None where no table has it."""
    for file in TABLES.glob("*.txt"):
        if problem.name.startswith(file.read_text().partition(",")[0].removeprefix("# ")):
            for entry, number in numbers_of(file).items():
                if entry.problems == (problem,):
                    return number
    return None
