"""Many readers of one overview: the ledger is queried rarely, and no reader waits for long."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace

from db.look.overview import shared
from db.look.overview.records import Overview
from db.look.overview.shared import FRESH_SECONDS, Shared
from db.messages import Time
from tests.ledger.test_overview_documents import OVERVIEW


class Slow:
    """Overviews that take long; each has another time."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.asked, self.at_once, self.most = seconds, 0, 0, 0
        self._lock = threading.Lock()
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def __call__(self) -> Overview:
        with self._lock:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        time.sleep(self.seconds)
        self.may_go_on.wait(60)
        with self._lock:
            self.asked += 1
            self.at_once -= 1
            return replace(OVERVIEW, now=Time(self.asked))


def test_one_asks_for_all() -> None:
    slow = Slow(0.3)
    watched = Shared(slow)
    with ThreadPoolExecutor(20) as threads:
        looks = list(threads.map(lambda _: watched.newest().now, range(20)))
    assert (looks, slow.asked) == ([1.0] * 20, 1)


@pytest.mark.parametrize(
    ("seconds", "pause"), [(0.0, FRESH_SECONDS), (0.1, FRESH_SECONDS), (1.0, 20.0), (60.0, 1_200.0)]
)
def test_it_is_asked_seldom_and_the_more_seldom_the_longer_it_takes(seconds: float, pause: float) -> None:
    now, asked = 1_000.0, []

    def ask() -> Overview:
        nonlocal now
        now += seconds
        asked.append(now)
        return replace(OVERVIEW, now=Time(now))

    watched = Shared(ask, lambda: now)
    for _ in range(3):
        answer = watched.newest()
        assert answer.now == now
        now += 0.999 * pause
        assert watched.newest() is answer
        now += 0.002 * pause
    assert len(asked) == 3


def test_nobody_waits_for_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(shared, "SHARE", 1e9)
    slow = Slow(0.0)
    watched = Shared(slow)
    watched.newest()
    slow.may_go_on.clear()
    asking = threading.Thread(target=watched.newest)
    asking.start()
    while not slow.at_once:
        time.sleep(0.001)
    assert watched.newest().now == 1.0  # who waited for the other would get its answer
    slow.may_go_on.set()
    asking.join()
    assert (watched.newest().now, slow.most) == (3.0, 1)


def test_an_error_is_told_and_not_kept() -> None:
    answers = iter([OVERVIEW])

    def ask() -> Overview:
        if not failed:
            failed.append(1)
            raise OSError("once")
        return next(answers)

    failed: list[int] = []
    watched = Shared(ask)
    with pytest.raises(OSError, match="once"):
        watched.newest()
    assert watched.newest() is OVERVIEW
