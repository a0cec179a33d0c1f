"""Lines that say how far a command is."""

from __future__ import annotations

import pytest

from langford.cli.output.progress import ProgressLine


def test_nothing_is_left_of_shares_that_add_up_but_for_rounding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("langford.cli.output.progress.LOG_SECONDS", -1.0)
    line = ProgressLine("verify", 1.0, 1)
    line.update(0, 0.5, 0.5, 30.0)
    assert capsys.readouterr().err == "verify: 50.0% of the work, 0/1 tasks, about 30 s left\n"
    line.update(0, sum(10 * [0.1]), 1.0, 60.0)
    assert capsys.readouterr().err == "verify: 100.0% of the work, 0/1 tasks\n"
