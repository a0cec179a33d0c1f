"""Lines that say how far a command is."""

from __future__ import annotations

import pytest

from langford.cli.output.progress import LOG_SECONDS, ProgressLine
from tests.support.clock import MovableClock


def test_nothing_is_left_of_shares_that_add_up_but_for_rounding(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = MovableClock()
    line = ProgressLine("verify", 1.0, 1, clock)
    clock.move(2 * LOG_SECONDS)
    line.update(0, 0.5, 30.0)
    assert capsys.readouterr().err == "verify: 50.0% of the work, 0/1 task, about 30 s left\n"
    clock.move(2 * LOG_SECONDS)
    line.update(0, sum(10 * [0.1]), 0.0)
    assert capsys.readouterr().err == "verify: 100.0% of the work, 0/1 task\n"


def test_a_log_has_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    clock = MovableClock()
    line = ProgressLine("run", 100.0, 100, clock)
    for second in range(1, 100):
        clock.move(1.0)
        line.update(second, second, None)
    lines = capsys.readouterr().err.splitlines()
    assert [text.split()[1] for text in lines] == ["31.0%", "62.0%", "93.0%"]
