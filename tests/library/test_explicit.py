"""Explicit arrangements, drawings and estimates."""

from __future__ import annotations

import errno
import math
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langford import drawing
from langford.cli.explore.draw import draw
from langford.errors import BadInput, BadSeed, LangfordError, TooExpensive
from langford.methods.backtracking import explicit
from langford.methods.backtracking.estimation import estimate
from langford.problem import Problem
from langford.problem.recognition import labelled
from langford.problem.reference import published
from tests.support import brute_force
from tests.support.problems import SMALL_SETS


@pytest.mark.exhaustive
@given(SMALL_SETS)
def test_iteration_finds_each_arrangement_once(problem: Problem) -> None:
    found = list(explicit.iterate(problem))
    assert all(labelled(problem, each) == each for each in found)
    assert len(set(found)) == len(found)
    assert len(found) == problem.published(brute_force.arrangements(problem))
    if problem.mirrored:
        assert not {each[::-1] for each in found} & set(found) - {each for each in found if each == each[::-1]}


@pytest.mark.parametrize(
    "problem", [Problem.langford(28), Problem.named("hooked-skolem", 18), Problem.langford(9, 3)], ids=str
)
def test_what_is_drawn_is_valid_and_reproducible(problem: Problem) -> None:
    first, *others = (explicit.find(problem, seed) for seed in range(4))
    assert labelled(problem, first) == first == explicit.find(problem, 0)
    assert {first} != {first, *others}


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_terminal_drawing_has_one_cube_per_place(seed: int) -> None:
    problem = Problem.named("hooked-skolem", 7)
    arrangement = explicit.find(problem, seed)
    lines = drawing.text(arrangement).plain.splitlines()
    assert lines[-1].split() == [str(name) if name else "·" for name in arrangement]
    above = "".join(lines[:-1])
    assert above.count("┌") == above.count("┐") == problem.n


@pytest.mark.parametrize("width", [168, 167, 80, 40, 5, 1])
def test_a_wide_drawing_goes_on_below(width: int) -> None:
    arrangement = explicit.find(Problem.langford(28), 1)
    whole = drawing.text(arrangement).plain.splitlines()
    parts = [part.splitlines() for part in drawing.text(arrangement, width).plain.split("\n\n")]
    assert max(len(line) for part in parts for line in part) <= max(width, 3)
    assert len(parts) == {168: 1, 167: 2, 80: 3, 40: 5, 5: 56, 1: 56}[width]
    assert "".join(part[-1] for part in parts) == whole[-1]
    above = "".join("".join(part[:-1]) for part in parts)
    assert sorted(above.replace(" ", "")) == sorted("".join(whole[:-1]).replace(" ", ""))


def test_a_picture_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    file = tmp_path / "picture.svg"
    drawing.save((3, 1, 2, 1, 3, 2), file)
    earlier = file.read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"picture\.svg"):
        drawing.save((2, 3, 1, 2, 1, 3), file)
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [(file.name, earlier)]


@pytest.mark.parametrize(
    ("out", "says"),
    [
        ("picture.gif", "end the file name in .svg"),
        ("ledger.svg", "is not a picture of this program"),
        ("no/such/picture.svg", "No such file or directory"),
    ],
)
def test_what_cannot_be_written_is_said_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str, says: str
) -> None:
    """It may take hours."""
    (tmp_path / "ledger.svg").write_bytes(b"SQLite format 3\0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(explicit, "find", lambda *arguments: pytest.fail("it searches"))
    with pytest.raises((LangfordError, OSError), match=says):
        draw.main(["7", "--out", out], standalone_mode=False)


@pytest.mark.parametrize(
    "problem",
    [
        Problem.langford(12),
        Problem.langford(17, 3),
        Problem.named("starter", 10),
        Problem.named("cyclic-skolem", 9),
    ],
    ids=str,
)
def test_estimates_hold_the_true_value(problem: Problem) -> None:
    found, true = estimate(problem, 200_000), published(problem) or 0
    assert abs(found.value - true) < 4 * found.standard_error < true


CIRCLES = ["starter-7", "cyclic-skolem-5", "cyclic-skolem-1"]
CIRCLES += ["cyclic-1.2.4.5-over-11-empty-1.3.8", "cyclic-1.2.3.5.6-over-12-empty-2.9"]


@pytest.mark.parametrize("problem", [*map(Problem.parse, CIRCLES)], ids=str)
def test_estimates_of_circles_are_unbiased(problem: Problem) -> None:
    """The mean over many seeds; what is left to the exact count at the end is exact."""
    true = problem.published(brute_force.arrangements(problem))
    found = [estimate(problem, 500, seed) for seed in range(40)]
    mean = sum(each.value for each in found) / len(found)
    error = math.sqrt(sum(each.standard_error**2 for each in found)) / len(found)
    assert true > 0
    assert abs(mean - true) <= 4 * error


@pytest.mark.parametrize("walks", [0, -1, 1.5, None, 10**20])
def test_estimates_from_no_number_of_walks_are_refused(walks: int) -> None:
    with pytest.raises(BadInput, match="walks"):
        estimate(Problem.langford(8), walks)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1"])
def test_estimates_with_no_seed_are_refused(seed: int) -> None:
    with pytest.raises(BadSeed, match="seed"):
        estimate(Problem.langford(8), 100, seed)


def test_estimates_are_reproducible_and_zero_where_none_exists() -> None:
    assert estimate(Problem.langford(15), 1000, seed=3) == estimate(Problem.langford(15), 1000, seed=3)
    assert estimate(Problem.langford(15), 1000, seed=3) != estimate(Problem.langford(15), 1000, seed=4)
    for empty in (Problem.langford(1), Problem.langford(2), Problem.langford(9)):
        assert estimate(empty, 1000).value == 0
    assert estimate(Problem.skolem(1), 100).value == 1


@pytest.mark.parametrize("problem", [Problem.langford(5), Problem.from_differences([2, 4, 5], 8, [3, 6])])
def test_where_there_is_none_the_search_ends(problem: Problem) -> None:
    with pytest.raises(TooExpensive, match="no arrangement to draw"):
        explicit.find(problem)
