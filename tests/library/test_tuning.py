"""The experiments of ``langford tune`` with the kernels compiled for the host, and from the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from jobs.console import SILENT
from jobs.tuning import gpu, session
from jobs.tuning.experiment import Experiment, Stopwatch, Trial, until_slow
from jobs.tuning.gpu import Bench, search_on_gpu
from langford.devices import HOST
from langford.errors import CheckFailed
from langford.methods import METHODS
from langford.methods.backtracking.cuda import SearchSettings
from langford.problem import Problem
from tests.library.programs import host_program
from tests.support.command_line import ENVIRONMENT, Run
from tests.support.forecasts import expect


@pytest.mark.exhaustive
def test_search_goes_on_with_what_was_best(monkeypatch: pytest.MonkeyPatch) -> None:
    method = "regular"  # which has one experiment more
    for name, few in {
        "AROUND": 1,
        "THREADS": (64,),
        "THREADS_PER_MULTIPROCESSOR": (512,),
        "WAITING": (1,),
        "STREAMS": (1, 2),
        "SHARES": (0.0, 0.5),
        "MAX_TEST_FREE": 2,
    }.items():
        monkeypatch.setattr(gpu, name, few)
    start = SearchSettings(lane_colours=4, threads=64, min_blocks=1, sub_tasks=50)
    bench = Bench(Problem.langford(7), method, host_program(), 2, start, Stopwatch(1))
    experiments = list(search_on_gpu(bench))
    names = [experiment.name for experiment in experiments]
    assert names == ["lane-colours", "depth", "test-free", "grid", "schedule", "streams", "cores", "share"]
    for experiment in experiments:
        for setting, value in experiment.best.settings.items():
            assert getattr(bench.settings, setting) == value
    schedule = experiments[names.index("schedule")].trials
    assert {trial.settings["persistent"] for trial in schedule} == {True, False}


@pytest.mark.exhaustive
def test_figures_of_a_gpu_are_drawn_without_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, values in {"GODFREY_THREADS": (32,), "BLOCKS": (1, 2), "DEPTHS": (4, 40)}.items():
        monkeypatch.setattr(gpu, name, values)
    method = METHODS["godfrey"]
    found = session.experiments(Problem.langford(5), method, 1, SILENT, HOST)
    drawn = [(device, each.name, each.shows) for device, each in found if device != "cpu"]
    assert drawn == [("host", "grid", "figure 1.13"), ("host", "share", "figure 1.14")]


def test_whole_numbers_have_whole_ticks(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    trials = [Trial(x, 100.0 * x) for x in (1, 2, 3)]
    session.draw(Experiment("streams", "", "streams", {"miller": trials}), tmp_path / "streams.svg")
    numbers = set(re.findall(r">([\d.]+)</text>", (tmp_path / "streams.svg").read_text()))
    assert {"1", "2", "3"} < numbers
    assert not any("." in number for number in numbers)


def test_points_at_the_top_are_not_cut(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    figures = pytest.importorskip("matplotlib.figure", reason="needs matplotlib")
    drawn: list[Any] = []
    monkeypatch.setattr(figures.Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))
    trials = [Trial(x, 1 + x / 1000) for x in (1, 2, 3)]
    session.draw(Experiment("streams", "", "streams", {"miller": trials}), tmp_path / "streams.svg")
    bottom, top = drawn[0].axes[0].get_ylim()
    assert bottom == 0
    assert top > 1.04 * trials[-1].seconds


def test_the_ring_says_that_noise_does_not_choose(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    experiment = Experiment("streams", "", "streams", {"": [Trial(1, 1.01), Trial(2, 1.0)]})
    session.draw(experiment, tmp_path / "streams.svg")
    assert "fastest, within 2%: 1.01 s<" in (tmp_path / "streams.svg").read_text()


def test_noise_does_not_choose() -> None:
    trials = [Trial(1, 2.0), Trial(2, 1.01, {"streams": 2}), Trial(3, 1.0, {"streams": 3})]
    assert Experiment("streams", "", "", {"": trials}).best is trials[1]
    assert until_slow(iter([*trials, Trial(4, 6.0), Trial(5, 7.0)])) == [*trials, Trial(4, 6.0)]


def test_a_wrong_count_ends_the_experiments() -> None:
    watch = Stopwatch(1)
    for n, other in ((7, False), (8, True)):
        plan = METHODS["miller"].plan(Problem.langford(n), 1)
        count = lambda plan=plan: map(plan.evaluate, plan.tasks)  # noqa: E731
        if other:
            with pytest.raises(CheckFailed, match="do not trust this machine"):
                watch.seconds("again", plan, count)
        else:
            watch.seconds("once", plan, count)


def test_cores_count_a_smaller_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that the forecast expects to take seconds: each n takes ten times as long as the one before."""
    expect(monkeypatch, lambda problem, method: 10.0 ** (problem.n - 14))
    assert session.for_cores(Problem.langford(20), METHODS["miller"]) == Problem.langford(15)
    assert session.for_cores(Problem.langford(12), METHODS["miller"]) == Problem.langford(12)


@pytest.mark.exhaustive
def test_the_command(langford: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENVIRONMENT, "CUDA_VISIBLE_DEVICES", "")
    done = langford("tune", "miller", "7", "--repeat", "1", "--out", "figures", "--json")
    assert done.returncode == 0, done.stderr
    assert "the experiments on a GPU are left out" in done.stderr
    experiments = json.loads(done.stdout)
    assert [each["name"] for each in experiments] == ["depth", "cores"]
    for each in experiments:
        assert each["device"] == "cpu"
        assert all(trial["seconds"] > 0 for curve in each["curves"] for trial in curve["trials"])
        figure = tmp_path / "figures" / f"miller-cpu-{each['name']}.svg"
        assert figure.read_text().startswith("<?xml")
