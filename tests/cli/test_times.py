"""Times as users write them: one set of forms for every command; a bare number has the unit of its option."""

from __future__ import annotations

import click
import pytest

from langford.cli.options.types import duration, job_duration
from tests.support.command_line import Run

HOUR, DAY = 3600, 86_400


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("20:00", 20 * 60),
        ("0:04", 4),
        ("1:30.5", 90.5),
        ("2:01:01", 2 * HOUR + 61),
        ("100:00:00", 100 * HOUR),
        ("1-12", DAY + 12 * HOUR),
        ("1-12:30", DAY + 12 * HOUR + 30 * 60),
        ("2-00:00:05", 2 * DAY + 5),
        ("5s", 5),
        ("90m", 90 * 60),
        ("1.5h", 1.5 * HOUR),
        ("1d", DAY),
    ],
)
def test_the_same_forms_hold_everywhere(text: str, seconds: float) -> None:
    assert duration(text) == job_duration(text) == seconds


def test_a_bare_number_is_of_seconds_and_refused_where_sbatch_has_minutes() -> None:
    assert (duration("90"), duration("0.5")) == (90, 0.5)
    with pytest.raises(click.BadParameter, match="write 1440m for minutes, or 1440s for seconds"):
        job_duration("1440")


@pytest.mark.parametrize(
    "text", ["", "soon", "-5", "1:2:3:4", "1-", "-12", "1-2-3", "1-12:00:00:00", "2w", "1 h", "h", "nan"]
)
def test_other_forms_are_refused_with_all_that_are_right(text: str) -> None:
    for read in (duration, job_duration):
        with pytest.raises(click.BadParameter, match=r"seconds, MM:SS, HH:MM:SS, D-HH, .*90m, 2h, 1d"):
            read(text)


@pytest.mark.parametrize(
    ("text", "asked"), [("1440m", "24:00:00"), ("20:00", "0:20:00"), ("2-12", "60:00:00"), ("90m", "1:30:00")]
)
def test_a_job_asks_for_the_time_that_sbatch_would_understand(langford: Run, text: str, asked: str) -> None:
    done = langford("slurm", "reserve", "--time", text, "--dry-run", "--", "langford", "8")
    assert f"#SBATCH --time={asked}\n" in done.stdout, done.stderr


def test_whole_nodes_are_asked_for(langford: Run) -> None:
    reserve = ("slurm", "reserve", "--nodes", "2", "--time", "60m", "--dry-run")
    assert "#SBATCH --exclusive\n" in langford(*reserve, "--", "langford", "8").stdout


@pytest.mark.parametrize("verb", [["keep", "8"], ["reserve", "--", "8"]], ids=["keep", "reserve"])
def test_a_further_option_that_has_no_effect_is_named(langford: Run, verb: list[str]) -> None:
    done = langford("slurm", verb[0], "--dry-run", "--sbatch=--time=5 --mem=2G", *verb[1:])
    assert done.stderr.count("has no effect") == 1
    assert "--time=5 in --sbatch has no effect" in done.stderr
    assert done.stdout.index("--time=5") < done.stdout.index("--time=1:00:00")


def test_the_help_names_the_forms_of_a_time(langford: Run) -> None:
    for command, forms in ((["run"], "seconds or as MM:SS"), (["slurm", "keep"], "Time limit of a job: MM:SS")):
        assert forms in " ".join(langford(*command, "--help").stdout.split())
