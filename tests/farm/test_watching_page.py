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
from jobs.show.notifications import KINDS, Fact, notice
from langford.cli.farm.logs import LogWriter, TextLines
from tests.support.campaigns import NAME, new_campaign
from tests.support.databases import new_ledger

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "watching.md").read_text()


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    with new_ledger("sqlite", tmp_path) as ledger:
        yield new_campaign(ledger)


def test_what_a_notification_holds(campaign: Campaign) -> None:
    [example] = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    section = PAGE.partition("## Notifications")[2]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(KINDS)
    document = notice(campaign.reader.overview(), Fact("stalled", "0", "no worker is active"))
    shown = json.loads(example)
    assert {name: type(value) for name, value in document.items()} == {name: type(shown[name]) for name in shown}
    assert document["tasks"].keys() == shown["tasks"].keys()
    assert document["text"] == f"{NAME}: stalled: no worker is active"


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
