"""The pictures and figures of docs/shifted.md and docs/records.md are those of the scripts that they name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHIFTED = (ROOT / "docs" / "shifted.md").read_text()
POINTS = "benchmarks/shifted_points.py"
OPTIONS = [options.split() for options in re.findall(rf"`python {re.escape(POINTS)}(.*?)`", SHIFTED)]


def script(*arguments: str) -> str:
    """What a script of the project prints."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=240, check=True
    )
    return done.stdout


@pytest.mark.exhaustive
def test_the_picture_of_the_shifted_sum_is_the_scripts(tmp_path: Path) -> None:
    [[option, target]] = [options for options in OPTIONS if "--figure" in options]
    script(POINTS, option, str(tmp_path / "drawn.svg"))
    drawn, kept = (
        re.findall(r"<!-- (.*?) -->", file.read_text()) for file in (tmp_path / "drawn.svg", ROOT / target)
    )
    assert drawn == kept  # every number and title; outlines of letters depend on the version of matplotlib
    assert len(drawn) > 128


def test_the_costs_of_the_next_records_are_the_scripts() -> None:
    page = (ROOT / "docs" / "records.md").read_text()
    assert script("benchmarks/records.py").strip() in page
