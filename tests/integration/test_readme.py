"""The blocks of the README and of docs/shifted.md do what they show; "..." stands for any further lines."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import Run

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PAGES = README, (ROOT / "docs" / "shifted.md").read_text()
BLOCKS = [block for page in PAGES for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL)]
SCRIPTS = re.findall(r"`python (benchmarks/shifted\w*\.py|benchmarks/surviving_shares\.py)(.*?)`", PAGES[1])
PYTHON = "".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))


@pytest.mark.parametrize("block", BLOCKS)
def test_console_blocks(langford: Run, tmp_path: Path, block: str) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "campaigns").symlink_to(ROOT / "jobs" / "campaigns")
    for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *expected = session.splitlines()
        program, *arguments = shlex.split(command)
        assert program == "langford"
        done = langford(*arguments)
        assert done.returncode == 0, done.stderr
        shown = done.stdout.splitlines()
        if expected and expected[-1] == "...":
            expected.pop()
            shown = shown[: len(expected)]
        assert [line.rstrip() for line in shown] == expected


def test_python_blocks() -> None:
    """One after the other, as one session."""
    session = doctest.DocTestParser().get_doctest(PYTHON, {}, "README", "README.md", 0)
    outcome = doctest.DocTestRunner().run(session)
    assert outcome.attempted >= 8
    assert not outcome.failed


def script(*arguments: str) -> str:
    """What a script of the project prints."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=240, check=True
    )
    return done.stdout


def test_the_picture_of_the_shifted_sum_is_the_scripts(tmp_path: Path) -> None:
    [(name, target)] = [(name, options.strip()) for name, options in SCRIPTS if "figure" in name]
    script(name, str(tmp_path / "drawn.svg"))
    drawn, kept = (
        re.findall(r"<!-- (.*?) -->", file.read_text()) for file in (tmp_path / "drawn.svg", ROOT / target)
    )
    assert drawn == kept  # every number and title; outlines of letters depend on the version of matplotlib
    assert len(drawn) > 128


def test_the_surviving_shares_are_the_scripts() -> None:
    [(name, options)] = [(name, options) for name, options in SCRIPTS if "shares" in name]
    assert not options.strip()
    printed = script(name, "16", "24", "--points", "5e5").splitlines()[2:]
    for row in printed:
        n, _, *measured = [cell.strip() for cell in row.strip("|").split("|")]
        [shown] = re.findall(rf"^\| {n} \|(.*)\|$", PAGES[1], re.MULTILINE)
        for cell, ours in zip(shown.split("|"), measured, strict=True):
            (share, error), (again, wide) = (map(float, text.split("±")) for text in (cell, ours))
            assert abs(share - again) < 5 * (error + wide)
    assert len(printed) == 2


def test_the_costs_of_the_next_records_are_the_scripts() -> None:
    page = (ROOT / "docs" / "records.md").read_text()
    assert script("benchmarks/records.py").strip() in page


def test_there_are_blocks_to_check() -> None:
    assert len(BLOCKS) >= 3
