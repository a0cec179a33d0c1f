"""How fast results arrived, in figures of a campaign."""

from __future__ import annotations

import numpy as np
import pytest

from db.look.figures.arrivals import PARTS, Arrivals
from db.look.figures.attempts import Elapsed


@pytest.mark.parametrize(("seconds", "known"), [(0.0, False), (1e-6, False), (1.0, True)])
def test_rates_are_known_where_clocks_can_divide_the_time(seconds: float, known: bool) -> None:
    now = 1.8e9
    arrivals = Arrivals(Elapsed(now, now + seconds), 2.0)
    arrivals.add(np.array([now, now + seconds]), np.ones(2))
    assert arrivals.are_known == known
    assert not known or arrivals.tasks.max() == pytest.approx(PARTS, rel=1e-3)  # a clock has microseconds
