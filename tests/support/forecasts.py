"""Forecasts that say what a test wants: the one measurement of a speed is replaced."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from langford.devices import Device
from langford.methods import Method
from langford.methods.speed import Speed, whole_work
from langford.problem import Problem


def taking(seconds: Callable[[Problem, Method], float]) -> dict[str, object]:
    """Other values, by "module:name", with which each count is expected to take some seconds of one device."""

    def measured(problem: Problem, method: Method, device: Device) -> Speed:
        pace = seconds(problem, method) / whole_work(problem, method)
        return Speed(pace, 1.0, method, problem)

    return {
        "langford.methods.speed:measured": measured,
        "langford.methods.speed:is_short": lambda *_: False,
        "langford.methods.speed:_measured": {},
    }


def of_a_core(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Have every forecast say this time of one core, or GPU."""
    expect(monkeypatch, lambda problem, method: seconds)


def expect(monkeypatch: pytest.MonkeyPatch, seconds: Callable[[Problem, Method], float]) -> None:
    """Have every forecast of one device say what a function says."""
    for name, value in taking(seconds).items():
        monkeypatch.setattr(name.replace(":", "."), value)
