"""docs/watching.md lists the kinds of notifications; and how the lines of a log are written."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from db import Campaign
from db.records import EventRecord
from db.states import EventKind, Outcome
from jobs.show.notifications import Fact, NoticeKind, notice
from jobs.show.wording import WORDINGS
from langford.cli.farm.logs import LogWriter, TextLines
from tests.support.campaigns import NAME, TASKS, new_campaign
from tests.support.databases import new_ledger

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "watching.md").read_text()


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    with new_ledger("sqlite", tmp_path) as ledger:
        yield new_campaign(ledger)


def test_many_things_are_said_in_one_line() -> None:
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


def record(message: str) -> logging.LogRecord:
    return logging.makeLogRecord({"msg": "%s", "args": (message,), "created": 0.5, "campaign": NAME})


def test_text_of_strangers_stays_on_its_line() -> None:
    assert TextLines().format(record("red \x1b[31m\nnew line")) == (
        r"1970-01-01 00:00:00Z  seven: red \x1b[31m\nnew line"
    )


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
    handler = LogWriter(stream)
    for number in range(100):
        handler.handle(record(str(number)))
    stream.waits = False
    while len(stream.getvalue().splitlines()) < 10:
        time.sleep(0.01)
    handler.handle(record("100"))
    handler.close()
    lines = stream.getvalue().splitlines()
    dropped = [int(number) for number in re.findall(r"(\d+) lines? dropped here", stream.getvalue())]
    assert sum(dropped) + len(lines) - len(dropped) == 101
    assert lines[-1].endswith("  seven: 100")
