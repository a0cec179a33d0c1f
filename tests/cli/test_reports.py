"""``langford report`` and ``query`` as they are called, and the page of a report in a real browser."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser
from sqlalchemy import text

from db.schema.views import VIEWS
from langford.cli.main import cli
from langford.version import install
from tests.support.browsers import browser, tab
from tests.support.campaigns import (
    COUNT,
    HOUR,
    NAME,
    TASKS,
    TRUE,
    delivery,
    finish,
    forged,
    new_campaign,
)
from tests.support.command_line import Run
from tests.support.databases import new_ledger

__all__ = ["browser"]
EXPORT = Path(__file__).parents[2] / "jobs" / "campaigns" / "langford-27-polyphase-16.jsonl.gz"
HEAD = {"campaign": NAME, "problem": "langford-7", "count": str(COUNT), "agrees": True, "pending": None}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger whose campaign is done."""
    made = tmp_path_factory.mktemp("finished")
    with new_ledger("sqlite", made, "langford.db") as ledger:
        finish(new_campaign(ledger), "a")
    return made / "langford.db"


@pytest.fixture
def folder(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a copy of it."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(finished, tmp_path)
    return tmp_path


def call(*arguments: str) -> Any:
    return CliRunner().invoke(cli, list(arguments), standalone_mode=False)


@pytest.mark.parametrize("command", [["report"], ["result"], ["verify", "--sample", "1"]])
def test_a_campaign_that_was_split_in_another_way_is_refused(
    command: list[str], tmp_path: Path, langford: Run
) -> None:
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        campaign = new_campaign(ledger)
        finish(campaign, "a")
        same = "attempt_id, value, residue, evaluated, seconds, provenance, accepted, drawn"
        more = (
            "INSERT INTO task (campaign_id, task_index, work, state, failures, deaths) "
            f"SELECT campaign_id, task_index + {TASKS}, work, state, 0, 0 FROM task WHERE task_index < 2",
            f"INSERT INTO result (campaign_id, task_index, {same}) "
            f"SELECT campaign_id, task_index + {TASKS}, {same} FROM result WHERE task_index < 2",
            "UPDATE campaign SET tasks = tasks + 2",
        )
        with campaign.database.writing() as connection:
            for statement in more:
                connection.execute(text(statement))
    done = langford(command[0], NAME, *command[1:])
    assert done.returncode == 2
    assert f"was split into {TASKS + 2} tasks, this version splits it into {TASKS} tasks" in done.stderr


# -- report -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("undrawn")
def test_a_report_is_written_under_the_name_of_the_campaign(folder: Path, langford: Run) -> None:
    done = langford("report", NAME)
    assert (done.returncode, done.stderr) == (0, "")
    written, cited = done.stdout.split("\n\n")
    assert written.startswith(f"{NAME}.html: ")
    assert cited.startswith(f"L(2,7) = {COUNT} up to reversal was computed with langford ")
    assert f"<title>L(2,7): {COUNT}</title>" in (folder / f"{NAME}.html").read_text()


@pytest.mark.exhaustive
def test_a_report_and_its_figures(folder: Path) -> None:
    done = call("report", NAME, "-o", "r.HTML", "--figures", "drawn", "--json")
    document = json.loads(done.stdout)
    assert {name: document[name] for name in HEAD} == HEAD
    assert (document["tasks"], document["done"], document["lost"]) == (TASKS, TASKS, 0)
    assert f"(campaign {NAME}, UUID " in document["citation"]
    assert document["effective_seconds"] == pytest.approx(0.5 * TASKS)
    names = [f"drawn/{name}.svg" for name in ("occupancy", "throughput", "task-times")]
    assert document["files"] == ["r.HTML", *names]
    assert (folder / "r.HTML").read_text().startswith("<!DOCTYPE html>")
    for name in names:
        figure = (folder / name).read_bytes()
        assert b"<svg" in figure
        assert b"#0a0b0" not in figure, "a colour that stands for one of the page"


@pytest.mark.usefixtures("undrawn")
def test_figures_alone_make_no_page(folder: Path) -> None:
    assert call("report", NAME, "--figures", "drawn").exit_code == 0
    assert not (folder / f"{NAME}.html").exists()


@pytest.mark.usefixtures("undrawn")
def test_a_report_of_an_export_needs_no_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = json.loads(call("report", "--from", str(EXPORT), "-o", "l27.html", "--json").stdout)
    assert (document["count"], document["agrees"]) == ("111683611098764903232", True)
    assert document["elapsed_seconds"] is None
    assert any("accepted results only" in text for text in document["missing"])
    assert [file.name for file in tmp_path.iterdir()] == ["l27.html"]


@pytest.mark.usefixtures("undrawn")
def test_a_report_of_a_wrong_count_exits_4(tmp_path: Path, langford: Run) -> None:
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        campaign = new_campaign(ledger)
        plan = campaign.plan
        wrong = forged(0, 2 * plan.multiplier >> plan.expectation(0).zero_bits)
        leases = campaign.worker.lease("a", TASKS, HOUR)
        campaign.worker.deliver(
            [delivery(lease, wrong if lease.index == 0 else TRUE[lease.index]) for lease in leases]
        )
    done = langford("report", NAME)
    assert done.returncode == 4
    assert "L(2,7)" not in done.stdout
    assert "The count cannot be right" in (tmp_path / f"{NAME}.html").read_text()


@pytest.mark.parametrize("package", ["matplotlib", "jinja2"])
def test_a_report_says_which_package_it_needs(
    folder: Path, langford: Run, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    for name in [name for name in sys.modules if name.startswith("jobs.show.report")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    done = langford("report", NAME, "-o", "r.html")
    assert done.returncode == 2
    assert done.stderr == f"langford: a report needs {package}: {install('report')}\n"
    assert not (folder / "r.html").exists()


@pytest.mark.exhaustive
def test_the_page_in_a_browser(folder: Path, browser: Browser) -> None:
    call("report", NAME, "-o", "r.html")
    for width, scheme in ((360, "dark"), (1440, "light")):
        require_shown(folder, browser, width, scheme)


def require_shown(folder: Path, browser: Browser, width: int, scheme: str) -> None:
    with tab(browser, width, scheme) as shown:
        shown.page.goto((folder / "r.html").as_uri())
        shown.picture(f"report-{width}-{scheme}")
        assert shown.errors == []
        assert shown.elsewhere == [(folder / "r.html").as_uri()]
        assert shown.fits()
        assert shown.obstacles() == []
        kinds = {"wide": width > 600, "narrow": width < 600}
        for kind, visible in kinds.items():
            figures = shown.page.locator(f"figure .{kind} svg")
            assert figures.count() == 3
            assert all(figures.nth(place).is_visible() is visible for place in range(3))
        colours = {
            name: shown.page.evaluate(f"getComputedStyle(document.body).{name}")
            for name in ("color", "backgroundColor")
        }
        dark_ground = colours["backgroundColor"] == "rgb(20, 24, 29)"
        assert dark_ground == (scheme == "dark")
        text = shown.page.locator(f"figure .{'wide' if width > 600 else 'narrow'} svg text").first
        assert text.evaluate("element => getComputedStyle(element).fill") == colours["color"]


# -- query ------------------------------------------------------------------------------------


def test_without_a_question_the_views_are_listed(folder: Path) -> None:
    listed = json.loads(call("query", "--json").stdout)
    assert [row["view"] for row in listed] == [view.name for view in VIEWS]
    assert all(row["what its rows are"].endswith(".") for row in listed)


def test_unknown_tables_get_the_list(folder: Path, langford: Run) -> None:
    done = langford("query", "SELECT * FROM nosuch")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "nosuch" in done.stderr
    assert all(view in done.stderr for view in ("task_overview", "disagreements"))


def test_a_question_in_every_format(folder: Path, langford: Run) -> None:
    tasks = ("query", "SELECT * FROM task_overview ORDER BY task")
    rows = json.loads(call(*tasks, "--json").stdout)
    assert sorted(row["value"] for row in rows) == sorted(str(result.value) for result in TRUE)
    table = list(csv.DictReader(call(*tasks, "--format", "csv").stdout.splitlines()))
    assert [row["value"] for row in table] == [row["value"] for row in rows]
    shown = langford("query", "SELECT * FROM task_overview LIMIT 3").stdout
    assert shown.count("host-a") == 3


def test_sql_of_people_is_answered(folder: Path) -> None:
    asked = "SELECT host, count(*) AS tasks FROM task_overview GROUP BY host"
    [row] = json.loads(call("query", asked, "--json").stdout)
    assert (row["host"], row["tasks"]) == ("host-a", TASKS)


def test_a_question_that_would_change_something_exits_2(folder: Path, langford: Run) -> None:
    before = (folder / "langford.db").read_bytes()
    done = langford("query", "DELETE FROM result")
    assert (done.returncode, done.stdout) == (2, "")
    assert "changes nothing" in done.stderr
    assert (folder / "langford.db").read_bytes() == before
