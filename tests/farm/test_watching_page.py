"""docs/watching.md lists what the log and the notifications say: every event with its fields, every kind."""

from __future__ import annotations

import ast
import errno
import json
import logging
import re
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from db import Campaign
from db.look.overview.records import Overview, Warned
from db.look.overview.room import LACKS_ROOM
from db.records import EventRecord
from db.states import EventKind, Outcome
from jobs.farm.guard.limited_log import LimitedLog
from jobs.show import log_lines
from jobs.show.notifications import Fact, NoticeKind, notice
from jobs.show.wording import WORDINGS
from langford.cli.farm.logs import JsonLines, LogWriter, TextLines
from tests.support.campaigns import NAME, TASKS, finish, new_campaign
from tests.support.databases import new_ledger

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "watching.md").read_text()
COMMON = {"time", "level", "event", "campaign", "message"}
LISTED = {
    event: set(re.findall(r"`(\w+)`", fields))
    for events, fields in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (.*?) ?\| .* \|$", PAGE, re.MULTILINE)
    for event in re.findall(r"`(\w+)`", events)
}


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    with new_ledger("sqlite", tmp_path) as ledger:
        yield new_campaign(ledger)


@pytest.fixture
def overview(campaign: Campaign) -> Overview:
    finish(campaign, "a")
    return campaign.reader.overview()


def said(caplog: pytest.LogCaptureFixture) -> dict[str, dict[str, Any]]:
    """The lines by event, as programs get them."""
    documents = [json.loads(JsonLines().format(record)) for record in caplog.records]
    return {document["event"]: document for document in documents}


def test_the_page_has_every_event_with_its_fields(
    campaign: Campaign, overview: Overview, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, log_lines.NAME)
    log_lines.listening("http://127.0.0.1:8765", [campaign])
    log_lines.worker_needs("langford work")
    log_lines.stopped()
    log_lines.going(overview)
    log_lines.done(overview)
    for change in log_lines.CHANGES:
        log_lines.changed(NAME, change, overview.workers)
    for outcome in log_lines.LOSSES:
        log_lines.lost(NAME, outcome, [2])
    for kind in WORDINGS:
        log_lines.happened(NAME, kind, [EventRecord(1, 0.0, kind, 3, 4, "a detail")])
    for lack in LACKS_ROOM:
        log_lines.warned(NAME, Warned(lack, "words"))
    for event in ("notified", "not_notified"):
        log_lines.notice(event, "words", NAME)
    limited = LimitedLog()
    limited.say("192.0.2.1", "noise")
    limited.say("192.0.2.1", "an error", ValueError("no"))
    limited.say("192.0.2.1", "an error", OSError(errno.EMFILE, "no"))
    documents = said(caplog)
    assert all(set(document) >= COMMON for document in documents.values())
    fields = {event: set(document) - COMMON for event, document in documents.items()}
    elsewhere = {"request", "blind", "left_out", "other"}  # integration tests look at these
    assert set(LISTED) == set(fields) | elsewhere
    assert {event: LISTED[event] for event in fields} == fields


def test_no_line_is_said_beside_the_page() -> None:
    events = set()
    for file in [*(ROOT / "jobs").rglob("*.py"), ROOT / "langford" / "cli" / "farm" / "logs.py"]:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "line":
                events |= {argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant)}
    assert {"listening", "progress", "request", "blind"} <= events <= set(LISTED)


def test_many_things_are_said_in_one_line(campaign: Campaign, overview: Overview) -> None:
    for kind, wording in WORDINGS.items():
        many = [EventRecord(number, 0.0, kind, number, 4, f"detail {number}") for number in range(40)]
        text = wording.many(many)
        assert len(text) < 300, text
        assert "40" in text
    assert WORDINGS[EventKind.CONFLICT].many(many).endswith("8, 9 and 30 more")


def test_what_a_notification_holds(campaign: Campaign) -> None:
    for _ in range(3):
        [lease] = campaign.worker.lease("a", 1, 60.0)
        campaign.worker.end([lease], Outcome.FAILED, "it breaks")
    [example] = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    section = PAGE.partition("## Notifications")[2]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == set(NoticeKind)
    for kind in NoticeKind:
        about = 10**6 if kind is NoticeKind.SET_ASIDE else 0
        if kind in (NoticeKind.CONFLICT, NoticeKind.DISTRUSTED):
            continue  # there is none
        document = notice(campaign, Fact(kind, about), -1, campaign.reader.standing(), 0.0)
        assert set(document) == set(json.loads(example))
        assert document["text"].startswith(f"{NAME}: ")
    document = notice(campaign, Fact(NoticeKind.SET_ASIDE, 10**6), -1, campaign.reader.standing(), 0.0)
    assert (document["number"], document["tasks"]) == (1, [lease.index])
    assert document["tasks_by_state"] == {"ready": TASKS - 1, "set-aside": 1}


# -- how it is written ------------------------------------------------------------------------


def record(message: str, **more: Any) -> logging.LogRecord:
    fields = {"msg": "%s", "args": (message,), "levelno": 20, "levelname": "INFO", "created": 0.5}
    made = logging.makeLogRecord(fields)
    for name, value in log_lines.extra("progress", NAME, more).items():
        setattr(made, name, value)
    return made


def test_text_of_strangers_stays_on_its_line() -> None:
    made = record("red \x1b[31m\nnew line")
    assert TextLines().format(made) == r"1970-01-01 00:00:00Z  seven: red \x1b[31m\nnew line"
    document = JsonLines().format(made)
    assert "\n" not in document
    assert "\x1b" not in document
    assert json.loads(document)["message"] == "red \x1b[31m\nnew line"
    assert json.loads(document)["time"] == "1970-01-01T00:00:00.500Z"


class Stopped(StringIO):
    """A stream that takes nothing before it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.waits = True

    def write(self, text: str) -> int:
        while self.waits:
            time.sleep(0.01)
        return super().write(text)


def test_lines_that_find_no_room_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langford.cli.farm.logs.MAX_WAITING", 10)
    stream = Stopped()
    handler = LogWriter(stream, JsonLines())
    for number in range(100):
        handler.handle(record(str(number)))
    stream.waits = False
    while len(stream.getvalue().splitlines()) < 10:
        time.sleep(0.01)
    handler.handle(record("100"))
    handler.close()
    documents = [json.loads(line) for line in stream.getvalue().splitlines()]
    left_out = [document["number"] for document in documents if document["event"] == "left_out"]
    assert sum(left_out) + len(documents) - len(left_out) == 101
    assert documents[-1]["message"] == "100"
