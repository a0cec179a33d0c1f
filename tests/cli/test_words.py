"""Numbers, shares and durations in words: the same on a terminal and in a browser."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import jobs.farm.dashboard
from langford import words
from tests.support.browsers import browser

__all__ = ["browser"]

SCRIPT = Path(jobs.farm.dashboard.__file__).parent / "static" / "words.js"
SECONDS = [0.0, 0.0005, 0.012, 0.125, 1.0, 9.49, 9.5, 12.5, 59.5, 99.4, 99.5, 119.5, 911.0, 3599.6, 3600.0, 5400.0]
SECONDS += [86_399.0, 86_400.0, 164_700.0, 8_640_000.0, 9e7, 94_672_800.0, 1e11, 1e30, 1.7e308]
NUMBERS = [0, 5, 5.0, 999, 0.0004, 0.0123, 0.125, 0.994, 0.996, 9.994, 9.996, 60.5, 99.94, 100.5, 999.4, 999.5]
NUMBERS += [1000, 12_345_678, 5.2e9, 9.994e26, 1e27, 1e30]
SHARES = [0.0, 0.00004, 0.29, 0.4, 0.505, 0.99999, 1 - 1e-12, 1.0, 1.5]
COUNTS = [0, 1, 2, 1200, 1_000_000]


@pytest.mark.parametrize(
    ("there", "here", "values"),
    [
        ("duration", words.duration, SECONDS),
        ("timeLeft", words.time_left, SECONDS),
        ("quantity", words.quantity, NUMBERS),
        ("percent", words.percent, SHARES),
        ("(share) => words.percent(share, 0)", lambda share: words.percent(share, 0), SHARES),
        ("(count) => words.several(count, 'task')", lambda count: words.several(count, "task"), COUNTS),
        ("whole", words.number, COUNTS),
    ],
)
def test_a_browser_says_the_same(browser: Browser, there: str, here: Any, values: list[float]) -> None:
    function = there if "=>" in there else f"(value) => words.{there}(value)"
    module = f"data:text/javascript;base64,{b64encode(SCRIPT.read_bytes()).decode()}"
    page = browser.new_page()
    said = page.evaluate(
        f"async ([module, values]) => {{ const words = await import(module); return values.map({function}); }}",
        [module, values],
    )
    page.close()
    assert dict(zip(values, said, strict=True)) == {value: here(value) for value in values}


def test_a_longer_duration_has_no_smaller_number() -> None:
    """The words of durations, read back, rise with them, and are never further off than half of their last unit."""
    sizes = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "years": words.YEAR_SECONDS}
    before = 0.0
    for seconds in (10.0 * 1.01**step for step in range(1_800)):
        parts = words.duration(seconds).replace(",", "").split()
        read = sum(int(number) * sizes[unit] for number, unit in zip(parts[::2], parts[1::2], strict=True))
        assert abs(read - seconds) <= sizes[parts[-1]] / 2
        assert read >= before
        before = read


def test_only_the_whole_is_a_hundred_percent() -> None:
    assert (words.percent(1 - 1e-6), words.percent(0.9999, 0), words.percent(1.0)) == ("99.9%", "99%", "100.0%")
