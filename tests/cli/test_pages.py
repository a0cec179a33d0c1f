"""The pages say what the code says: states, floors, classes, files, links and sequences."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from db.states import FAILURES_BEFORE_SET_ASIDE, Outcome, TaskState
from langford.problem.reference import SEQUENCES
from tests.support.pages import DESIGN, table

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(DOCS.glob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
    ROOT / "jobs" / "campaigns" / "README.md",
]
SOURCES = [
    file
    for folder in ("langford", "db", "jobs", "slurm")
    for file in (ROOT / folder).rglob("*")
    if file.suffix in (".py", ".cu", ".cuh", ".h")
]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_states_of_a_task_are_those_of_the_code() -> None:
    assert {state for row in table("States of a task") for state in row[:2]} == {*TaskState}
    assert FAILURES_BEFORE_SET_ASIDE == 3, "the page says three times"


def test_the_ends_of_an_attempt_are_those_of_the_code() -> None:
    assert sorted((before, after) for before, after, _ in table("How an attempt ends")) == sorted(
        ("running", outcome) for outcome in Outcome
    )


def test_the_nouns_are_classes() -> None:
    named = re.findall(r"^\| [\w, ]+ \| ((?:`\w+`(?: and )?)+) in `(\S+)` \|", DESIGN, re.MULTILINE)
    assert len(named) >= 20
    for classes, path in named:
        for name in re.findall(r"`(\w+)`", classes):
            assert re.search(rf"^class {name}\b", (ROOT / path).read_text(), re.MULTILINE), (name, path)


def test_the_floors_are_those_that_the_imports_keep() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["name"].startswith("layers"))
    floors = next(contract["layers"] for contract in contracts if contract["name"].startswith("the floors"))
    drawing = (DOCS / "layers.svg").read_text()
    rooms = [re.findall(r"\w+", floor) for floor in floors]
    assert rooms[:2] == [["__main__"], ["cli"]]
    drawn = [
        [drawing.find(f">{room}<" if room != "kernels" else ">kernels/") for room in each] for each in rooms[2:]
    ]
    drawn = [[place for place in each if place >= 0] for each in drawn]
    drawn = [each for each in drawn if each]  # small modules are left out
    packages = {path.parent.name for path in (ROOT / "langford").glob("*/__init__.py")} - {"cli", "kernels"}
    packages |= {path.parent.name for path in (ROOT / "langford" / "methods").glob("*/__init__.py")}
    assert all(f">{package}<" in drawing for package in packages)
    heights = [max(places) for places in drawn[:-1]], [min(places) for places in drawn[1:]]
    assert all(above < below for above, below in zip(*heights, strict=True))
    titles = re.findall(r'class="title"[^>]*>(.*?)<', drawing)
    assert titles == ["langford/cli", *layers, "langford"]


def test_every_room_is_drawn_above_those_that_it_uses() -> None:
    """The rooms of the ledger and of jobs stand in the drawing as the contracts order them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    drawing = (DOCS / "layers.svg").read_text()
    for package, name in (("db", "the rooms of the ledger"), ("jobs", "the rooms of jobs")):
        layers = next(contract["layers"] for contract in contracts if contract["name"] == name)
        floors = [re.findall(r"\w+", layer) for layer in layers]
        kept = {room for floor in floors for room in floor}
        floor = drawing[drawing.index(f'class="floor {package}"') :].partition('class="floor')[2]
        floor = floor.partition('class="floor')[0]
        drawn = [word for text in re.findall(r'class="name"[^>]*>([^<]+)<', floor) for word in text.split(", ")]
        rooms = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}
        assert rooms <= kept, package
        assert rooms <= set(drawn), package
        places = [[drawn.index(room) for room in above if room in drawn] for above in floors]
        places = [each for each in places if each]
        assert all(max(above) < min(below) for above, below in pairwise(places)), package
    assert {path.parent.name for path in (ROOT / "langford" / "cli").glob("*/__init__.py")} <= set(
        re.findall(r'class="name"[^>]*>([^<]+)<', drawing.partition('class="floor slurm"')[0])
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_and_links_exist(page: Path) -> None:
    text = page.read_text()
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for path in re.findall(r"`((?:langford|db|jobs|slurm|tests|docs|benchmarks)/[\w./-]*\w)/?`", prose):
        if path != "langford/methods/inclusion/__init__.py":  # where docs/extending.md would put its example
            assert (ROOT / path).exists(), path
    links = re.findall(r"\]\(([^)]*)\)", re.sub(r"`[^`]*`", "", prose))
    assert len(links) == prose.count("](") - sum(code.count("](") for code in re.findall(r"`[^`]*`", prose))
    for link in links:
        assert not re.search(r"\s", link), link
        if "://" in link:
            assert link.startswith("https://"), link
        else:
            file, _, anchor = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            assert target.exists(), link
            # Where a page links to the script that makes one of the site, the anchor is that of the site's page.
            assert not anchor or target.suffix == ".py" or anchor in anchors(target), link


@pytest.mark.parametrize(("sequence", "title"), [("A014552", "L(2, n)"), ("A059106", "S(n)")])
def test_the_records_are_the_published_counts(sequence: str, title: str) -> None:
    below = (DOCS / "records.md").read_text().split(title, 1)[1]
    rows = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    assert rows is not None
    shown = re.findall(r"^\| (\d+) \| ([\d,]+) \|", rows[0], re.MULTILINE)
    assert len(shown) >= 3
    assert {int(n): int(count.replace(",", "")) for n, count in shown}.items() <= SEQUENCES[sequence].terms.items()


def test_every_sequence_that_the_code_names_is_among_the_references() -> None:
    page = (DOCS / "references.md").read_text()
    named = {number for file in SOURCES for number in re.findall(r"\bA\d{6}\b", file.read_text())}
    assert len(named) >= 5
    assert named == set(re.findall(r"\[(A\d{6})\]\(https://oeis\.org/\1\)", page))
