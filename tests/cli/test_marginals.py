"""In how many arrangements a colour begins at each place: against lists of all arrangements."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from jobs.tables.entries import Row
from jobs.tables.marginals import Marginals
from langford.errors import BadProblem, CheckFailed
from langford.methods.backtracking import explicit
from langford.problem import Problem
from tests.support.brute_force import arrangements
from tests.support.command_line import Run


def begun(problem: Problem, colour: int) -> dict[int, int]:
    """By the first place of a colour, from all arrangements; on a circle, the one before the other."""
    every = {*explicit.iterate(problem)}
    if problem.up_to == "reversal":
        every |= {row[::-1] for row in every}
    found: dict[int, int] = {}
    for row in every:
        first, *_, last = (place for place, label in enumerate(row, 1) if label == colour)
        offset = problem.differences[0] - problem.label(problem.differences[0])
        further = first + (problem.copies - 1) * (colour + offset)
        place = first if further == last else last
        found[place] = found.get(place, 0) + 1
    return found


@pytest.mark.parametrize(
    ("words", "colour"),
    [("8", 8), ("7", 1), ("hooked-skolem 6", 4), ("9 copies 3", 4), ("starter 5", 2), ("even-starter 6", 5),
     ("skolem 4 holes 1", 3), ("extended-langford 6 hole 4", 2)],
)  # fmt: skip
def test_each_place_has_the_arrangements_of_a_list(words: str, colour: int) -> None:
    problem = Problem.parse(words)
    asked, known = Marginals.of(problem, colour), begun(problem, colour)
    *places, everything = asked.entries
    counts = {entry.n: arrangements(entry.problems[0]) for entry in places}
    assert {place: count for place, count in counts.items() if count} == known
    rows = [Row(entry, 0, counts.get(entry.n, 0)) for entry in places]
    total = sum(counts.values())
    assert asked.require_sum([*rows, Row(everything, 0, total)]) == total == sum(known.values())
    with pytest.raises(CheckFailed, match="add up to"):
        asked.require_sum([*rows, Row(everything, 0, total + 2, ("whole",))])


def test_what_has_no_such_colour_is_refused() -> None:
    for words, colour, says in (("8", 9, "it has 1, 2"), ("skolem 1", 1, "several"), ("4 fold 2", 1, "several")):
        with pytest.raises(BadProblem, match=says):
            Marginals.of(Problem.parse(words), colour)


def test_the_command_prints_and_draws_the_places(langford: Run, tmp_path: Path) -> None:
    picture = tmp_path / "m8.svg"
    done = langford("marginals", "8", "--colour", "8", "--json", "--out", str(picture))
    assert (done.returncode, "the sum is 300" in done.stderr) == (0, True), done.stderr
    assert [int(row["count"]) for row in json.loads(done.stdout)] == [32, 48, 48, 44, 48, 48, 32]
    drawn = ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}rect")
    heights = [float(str(bar.get("height"))) for bar in list(drawn)[1:]]
    assert heights == pytest.approx([5 * count / 48 for count in (32, 48, 48, 44, 48, 48, 32)], abs=1e-3)
