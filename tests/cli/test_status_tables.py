"""What `langford status` draws: names stay whole, what does not fit is left out, strangers draw nothing."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from db.look.overview.records import Happened, Overview, Total, Warned, WarningKind, WorkerState
from db.messages import Time
from jobs.farm.dashboard.pages import FOLDER
from jobs.show.wording import UNSEEN_SECONDS, present, state_in_words
from langford.cli.output.overviews import line_of, lines_of
from langford.cli.output.tables import Column, table
from tests.ledger.test_overview_documents import OVERVIEW, WORKER

LONG = "a-host-with-a-name-that-is-longer-than-any-column-would-be.example.org"
EVIL = "\x1b[2J\x1b]0;evil\x07[red]\n\u202e"


def of_hosts(*hosts: str) -> Overview:
    workers = tuple(replace(WORKER, host=host, worker_id=f"{number:08}") for number, host in enumerate(hosts))
    return replace(OVERVIEW, workers=workers, workers_by_state={})


def test_wide_letters_take_two_places() -> None:
    lines = table([Column("name", ["節点", "ab"]), Column("n", ["1", "2"])], None)
    assert [cell_len(line) for line in lines] == [7, 7, 7]


@pytest.mark.parametrize("width", [46, 60, 80, 100, 120, 200])
def test_a_table_of_workers_fits_and_keeps_the_names_whole(width: int) -> None:
    hosts = ["node-17", "gpu-partition-node-0123"]
    lines = lines_of([of_hosts(*hosts)], width)
    start = next(number for number, line in enumerate(lines) if line.startswith("worker "))
    rows = lines[start : start + 3]
    assert all(cell_len(line) <= width for line in rows), rows
    assert [host in row.split() for host, row in zip(hosts, rows[1:], strict=True)] == [True, True]
    assert "state" in rows[0]
    assert ("device" in rows[0]) == (width >= 100)
    assert ("SLURM" in rows[0]) == (width >= 120)


def test_without_a_width_every_column_is_written() -> None:
    headings = next(line for line in lines_of([of_hosts("h")], None) if line.startswith("worker "))
    for heading in ("host", "device", "SLURM", "state", "seen", "leased", "done", "speed", "of peers", "lost"):
        assert heading in headings


def test_a_name_that_is_wider_than_the_terminal_is_whole() -> None:
    for width in (20, 80):
        lines = lines_of([of_hosts(LONG)], width)
        assert len([line for line in lines if LONG in line]) == 1
    campaigns = [replace(OVERVIEW, campaign=name) for name in (LONG, "seven")]
    lines = lines_of(campaigns, 80)
    assert [line.split()[0] for line in lines] == ["campaign", LONG, "seven"]


def test_text_of_strangers_draws_nothing() -> None:
    hostile = replace(
        of_hosts(EVIL),
        campaign=EVIL,
        warnings=(Warned(WarningKind.SILENT_WORKER, EVIL),),
        events=(Happened(Time(0), EVIL, EVIL * 100),),
        workers=tuple(
            replace(WORKER, host=EVIL, device_model=EVIL, slurm=EVIL, ending=EVIL, state=WorkerState.ENDED)
            for _ in "ab"
        ),
    )
    for lines in (lines_of([hostile], 80), lines_of([hostile, hostile], 80), [line_of(hostile)]):
        assert all(line.isprintable() for line in lines), lines
    assert "[red]" in line_of(hostile)


def test_everything_about_a_campaign_in_words() -> None:
    text = "\n".join(lines_of([OVERVIEW], None))
    for words in (
        "seven: L(2,7) by polyphase at depth 8",
        "40.0% done, 20.0% leased, 30.0% ready, 10.0% set aside, 10.0% to recheck",
        "4 of 10 done, 2 leased, 3 ready, 1 set aside, 1 to recheck",
        "5 points/s in the last 60 s, 60.5 tasks a minute, 4 points/s since the start",
        "about 1 min 40 s (90% range:",
        "4 ended",
        "WARNING  1 task is set aside",
        "and 3 more",
        "50%",
        "3, 32 s",
        "lost     3 attempts of 32 s in total: 1 failed, 2 preempted",
    ):
        assert words in text, words


def test_only_the_whole_is_a_hundred_percent() -> None:
    nearly = replace(OVERVIEW, work=replace(OVERVIEW.work, done=0.99999))
    assert line_of(nearly).startswith(
        "seven: 99.9% of the work, 4/10 tasks, 5 points/s now, 1 min 40 s left, 1 worker, "
    )
    done = replace(OVERVIEW, work=replace(OVERVIEW.work, done=1.0), finished=1.0, eta=None)
    assert line_of(done).startswith("seven: 100.0% of the work, 4/10 tasks, 5 points/s now, done, ")


def test_no_campaign() -> None:
    assert "langford run" in "\n".join(lines_of([], 80))


def test_the_dashboard_calls_a_worker_late_as_soon_as_tables_do() -> None:
    script = (FOLDER / "static" / "workers.js").read_text()
    working, idle = re.findall(r"UNSEEN_SECONDS = \{ working: (\d+), idle: (\d+) \}", script)[0]
    assert {WorkerState.WORKING: float(working), WorkerState.IDLE: float(idle)} == UNSEEN_SECONDS


def test_a_worker_that_is_late_is_not_said_to_work() -> None:
    """It may have been killed: its lease ends later."""

    def state(seconds: float) -> str:
        worker = replace(WORKER, state=WorkerState.WORKING, last_seen=Time(OVERVIEW.now - seconds))
        return state_in_words(worker, OVERVIEW.now)

    assert (state(30), state(69)) == ("working", "working")
    assert (state(70), state(140)) == ("not seen for 70 s", "not seen for 2 min 20 s")
    late = replace(WORKER, state=WorkerState.WORKING, last_seen=Time(OVERVIEW.now - 85))
    assert "not seen for 85 s" in "\n".join(lines_of([replace(OVERVIEW, workers=(late,))], None))
    assert present(replace(OVERVIEW, workers=(late,), workers_by_state={"working": {"cpu": 1}})) == 0
    later = replace(late, last_seen=Time(OVERVIEW.now - 140))
    for workers, words in (
        ((late,), "1 not seen for 85 s"),
        ((WORKER, late, later), "2 not seen for up to 2 min 20 s"),
    ):
        lines = lines_of([replace(OVERVIEW, workers=workers)], None)
        [said] = [line for line in lines if line.startswith("  workers")]
        assert said.endswith(words)
        assert "working" not in said.replace("1 working", "", len(workers) - 2)
    idle = replace(WORKER, state=WorkerState.IDLE, last_seen=Time(OVERVIEW.now - 89))
    assert state_in_words(idle, OVERVIEW.now) == "idle"


def test_a_campaign_without_workers_is_new_or_paused_and_no_warning() -> None:
    tasks = replace(OVERVIEW.tasks, set_aside=0, recheck=0)
    alone = replace(OVERVIEW, workers=(), warnings=(), tasks=tasks, count=None, agrees=None)
    begun = replace(alone, campaign="begun")
    fresh = replace(alone, campaign="fresh", tasks=replace(alone.tasks, done=0))
    lost = replace(alone, campaign="lost", warnings=(Warned(WarningKind.NO_WORKERS, "no worker"),))
    rows = {line.split()[0]: line for line in lines_of([begun, fresh, lost], None)[1:]}
    assert rows["begun"].endswith("  paused")
    assert rows["fresh"].endswith("  new")
    assert rows["lost"].endswith("  1 warning")
    assert "langford work" in next(line for line in lines_of([begun], None) if line.startswith("  workers "))


def test_the_table_shows_problems_and_counts() -> None:
    done = replace(OVERVIEW, campaign="mine", finished=1.0, count=Total(26), agrees=True)
    wrong = replace(done, campaign="bad", count=Total(27), agrees=False)
    heading, *rows = lines_of([done, wrong], None)
    assert heading.split()[:2] == ["campaign", "problem"]
    assert heading.endswith("  count")
    assert [(row.split()[1], row.split()[-1]) for row in rows] == [("L(2,7)", "26"), ("L(2,7)", "27")]
    assert "NOT as published" in rows[1]
