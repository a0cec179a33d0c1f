"""Figures that several pages show are those of docs/measured.md, and those of computed tasks are the files'."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import records
from db.files.reading import read_export
from langford.cli.output.known import exports_of
from langford.methods import plan_of
from langford.problem import Problem
from tests.support.cases import few

ROOT = Path(__file__).parents[2]
CAMPAIGNS = ROOT / "jobs" / "campaigns"
LISTED = (CAMPAIGNS / "README.md").read_text()
TIMES = (ROOT / "docs" / "measured.md").read_text()
HOUR, DAY, YEAR = 3600, 86_400, 365.25 * 86_400


@pytest.mark.parametrize(
    ("page", "shown", "measured", "unit"),
    [
        ("README.md", "| 0.3 s of one core |", "| polyphase | L(2,16) | 1 | 0.30 |", 1),
        ("README.md", "| 21 s of two cores |", "| polyphase | L(2,20) | 2 | 21 |", 1),
        ("README.md", "| 1.5 hours of one core |", "| L(2,24) | 5,540 |", HOUR),
        ("README.md", "| 14 days of one core |", "| L(2,28) | 1.24e6 |", DAY),
        ("README.md", "| 2.9 years of one core |", "| L(2,31), one round | 9.14e7 |", YEAR),
        ("README.md", "| 0.1 s |", "| 3.5e11 | 0.079 | 0.080 |", 1),
        ("README.md", "| 9 s |", "| L(2,24) | all | 9.38 |", 1),
        ("README.md", "| 31 minutes |", "| 15 of 666, drawn | **1,839** |", 60),
        ("README.md", "| 29 hours |", "| 8 of 9,316, drawn | **104,800** ", HOUR),
        ("docs/measured.md", "(29 hours)", "| 8 of 9,316, drawn | **104,800** ", HOUR),
        ("docs/measured.md", "(31 hours)", "| 130,800 | **111,100** ", HOUR),
        ("docs/measured.md", "133,000 (37 hours)", "drawn | 4.7e10 | 133,000", HOUR),
        ("docs/measured.md", "130,700 (36 hours)", "133,000 (37 hours) | 130,700", HOUR),
        ("docs/measured.md", "217,500 (60 hours)", "drawn | 3.4e11 | 217,500", HOUR),
        ("docs/records.md", "a quarter of the time: L(2, 31) 9 hours", "133,000 (37 hours) | 130,700", 4 * HOUR),
        ("docs/records.md", "about 2,260 s by `shifted`", "Skolem(2,28) | shifted | four H100 | 2,260", 1),
        ("docs/records.md", "took 2,016 s for S(28)", "Skolem(2,28) | shifted2 | two H100 | 2,016", 1),
        # The table has the time of shifted; that of shifted2 is 0.88 of it.
        ("docs/where-it-runs.md", "9,316 tasks of 117 s on a Zen 4 core", "| L(2,28) | 1.24e6 |", 9316 / 0.88),
        ("docs/where-it-runs.md", "on sixteen, 3,950 on two)", "34,000 tasks/s, p99 15 ms | 3,950", 1),
        ("docs/where-it-runs.md", "Postgres is faster (34,000 tasks", "in Postgres, 32 a claim | 34,000", 1),
        ("jobs/campaigns/README.md", "All of it takes 36 hours", "133,000 (37 hours) | 130,700", HOUR),
        ("benchmarks/langford-31.md", "since then: 130,700 s for all", "133,000 (37 hours) | 130,700", 1),
        ("benchmarks/langford-31.md", "takes 104,800 s for all", "| 8 of 9,316, drawn | **104,800** ", 1),
    ],
)
def test_a_time_on_a_page_is_the_measured_one(page: str, shown: str, measured: str, unit: float) -> None:
    assert measured in TIMES
    assert shown in (ROOT / page).read_text()
    value = float(re.findall(r"\d[\d,.]*(?:e\d+)?", measured)[-1].replace(",", "")) / unit
    numbers = re.findall(r"\d[\d,]*(?:\.\d+)?", shown)
    assert any(f"{value:,.{len(number.partition('.')[2])}f}" == number for number in numbers), value


def test_the_costs_of_records_are_from_measured_times() -> None:
    for known in (*records.MEASURED, *records.SMALLER):
        if known.device != "H200" or known.method != "Jourdelune/langford":
            seconds = f"{known.seconds:,.0f}" if known.seconds < 1e6 else f"{known.seconds:.2e}".replace("e+0", "e")
            assert re.search(rf"\b{re.escape(seconds)}\b", TIMES), known


def test_the_tasks_of_langford_31_are_counted_alike_everywhere() -> None:
    file = CAMPAIGNS / "langford-31-shifted-16.jsonl.gz"
    export = read_export(file)
    done, tasks = len(export.results), export.tasks
    work = plan_of(export.key).work
    share = sum(work[each.result.index] for each in export.results) / work.sum()
    assert f"{done:,} of {tasks:,} tasks are done, {share:.1%} of the work" in LISTED
    notes = (ROOT / "benchmarks" / "langford-31.md").read_text()
    assert sum(map(int, re.findall(r"^\| (\d+) \| H\d00 \|", notes, re.MULTILINE))) == done


ROWS = re.findall(r"^\| `([\w/…-]+)` \|(?:[^|]+\|){1,3} ([\d,]+) \|", LISTED, re.MULTILINE)


@pytest.mark.parametrize(("files", "seconds"), [ROWS[0], ROWS[len(ROWS) // 2], ROWS[-1]])
def test_the_seconds_of_campaigns_are_those_of_their_results(files: str, seconds: str) -> None:
    named = list(CAMPAIGNS.glob(f"{files.replace('…', '*')}.jsonl.gz"))
    if files == "langford-…":
        named = [file for file in named if "-31-" not in file.name]
    assert named
    found = sum(each.seconds for file in named for each in read_export(file).results)
    assert abs(found - int(seconds.replace(",", ""))) <= 3


ON_GPUS = re.findall(
    r"^\| `langford table (.+) --confirm --device cuda` \| \d+ \| [\d,]+ \| (.+) \| (\d+, \d+) \|$",
    (ROOT / "docs" / "records.md").read_text(),
    re.MULTILINE,
)


@pytest.mark.parametrize(("words", "sums", "seconds"), few(ON_GPUS, 2))
def test_the_rows_of_records_counted_on_gpus_are_those_of_their_exports(
    words: str, sums: str, seconds: str
) -> None:
    exports = [read_export(file) for file in exports_of(Problem.parse(words))]
    took = sorted(round(sum(each.seconds for each in export.results)) for export in exports)
    assert took == sorted(map(int, seconds.split(", ")))
    assert {export.key.method for export in exports} == {*re.findall("`(.+?)`", sums)}
