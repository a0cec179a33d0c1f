"""The CUDA kernels of backtracking: each task must give exactly what the CPU kernel gives, nodes included."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from langford.errors import TaskIndexOutOfRange
from langford.kernels.gpu.host import HostStream
from langford.methods import METHODS, merge
from langford.methods.backtracking.cuda import MillerOnGpu, RegularOnGpu, SearchSettings
from langford.methods.backtracking.plan import BacktrackingPlan, RegularPlan
from langford.problem import Problem
from langford.problem.reference import published
from tests.library.programs import BY_NAME, compile_only, gpu_program, host_program, require_same, text_of

EVALUATORS: dict[str, Any] = {"miller": MillerOnGpu, "regular": RegularOnGpu}
SMALL = SearchSettings(lane_colours=6, threads=64, min_blocks=1, sub_tasks=100)
PROBLEMS = [
    *(Problem.langford(n) for n in (1, 2, 3, 4, 7, 8, 9)),
    *(Problem.skolem(n) for n in (1, 5, 8)),
    Problem.named("hooked-skolem", 7),
    Problem.named("hooked-langford", 6),
    Problem.langford(9, 3),
    Problem.skolem(8, 4),
    # Two words: L(2,8) across their border, and differences beyond 32 with none and with some arrangements.
    Problem.from_differences(range(2, 10), 80, [k for k in range(1, 81) if not 57 <= k < 73]),
    Problem.from_differences([1, 3, 5, 34], 40, range(5, 37)),
    Problem.from_differences([1, 3, 34, 38], 40, range(5, 37)),
    # Nothing is free in the first word.
    Problem.from_differences(range(2, 6), 50, [k for k in range(1, 51) if not 40 <= k < 48]),
    Problem.from_differences(range(2, 6), 80, [k for k in range(1, 81) if not 70 <= k < 78]),
]
ON_THE_HOST = [Problem.named("hooked-langford", 6), Problem.langford(9, 3), PROBLEMS[-5]]
"""Of these, what the host computes: it compiles a program for each."""
COMPILED = [
    ("miller", Problem.langford(19), {"lane_colours": 12}, "sm_90"),
    ("miller", Problem.langford(18, 3), {"lane_colours": 11, "persistent": False, "waiting": 32}, "sm_90"),
    ("miller", Problem.langford(24, 4), {"lane_colours": 12}, "sm_80"),
    ("regular", Problem.langford(24, 4), {"lane_colours": 9}, "sm_90"),
]
KERNELS = [
    pytest.param("miller", {}, id="miller"),
    pytest.param("miller", {"waiting": 32}, id="miller-lanes-wait"),
    pytest.param("miller", {"persistent": False, "waiting": 4}, id="miller-static"),
    pytest.param("regular", {}, id="regular"),
    pytest.param("regular", {"persistent": False}, id="regular-static"),
]


def plan_of(method: str, problem: Problem, depth: int = 2) -> BacktrackingPlan:
    plan = METHODS[method].plan(problem, min(depth, problem.n))
    assert isinstance(plan, BacktrackingPlan)
    return plan


def on_gpu(plan: BacktrackingPlan, compiler: Any, cores: int = 1, settings: SearchSettings | None = None) -> Any:
    return EVALUATORS[plan.method.name](plan, compiler, cores, settings)


@pytest.mark.parametrize(("method", "problem", "options", "architecture"), COMPILED)
def test_compiles_for_gpus(method: str, problem: Problem, options: dict[str, int], architecture: str) -> None:
    plan, settings = plan_of(method, problem, 1), replace(SearchSettings(), **options)
    compile_only(text_of(lambda keep: on_gpu(plan, keep, settings=settings)), architecture)


@pytest.mark.parametrize("problem", ON_THE_HOST, **BY_NAME)
@pytest.mark.parametrize("method", ["miller", "regular"])
def test_tasks_on_the_host(method: str, problem: Problem) -> None:
    plan = plan_of(method, problem)
    gpu = on_gpu(plan, host_program(), 2, replace(SMALL, computing=0))
    require_same(plan, gpu)
    assert gpu.on_cores == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("method", "options", "lane_colours"),
    # Those of the other kernels are the usual ones.
    [pytest.param(*KERNELS[k].values, lanes, id=KERNELS[k].id) for k, lanes in ((1, 4), (2, 9), (4, 1))],
)
def test_settings_on_the_host(method: str, options: dict[str, int], lane_colours: int) -> None:
    plan = plan_of(method, Problem.langford(9 if lane_colours == 9 else 8), 1)
    require_same(plan, on_gpu(plan, host_program(), 2, replace(SMALL, lane_colours=lane_colours, **options)))


@pytest.mark.parametrize("test_free", [1, 6])
def test_free_colours_on_the_host(test_free: int) -> None:
    plan = RegularPlan(METHODS["regular"], Problem.langford(7), 1, test_free)
    require_same(plan, on_gpu(plan, host_program(), 1, SMALL))


@pytest.mark.exhaustive
def test_a_static_share_for_the_cores() -> None:
    plan = plan_of("miller", Problem.langford(10), 1)
    gpu = on_gpu(plan, host_program(), 2, replace(SMALL, cpu_share=0.2))
    require_same(plan, gpu)
    assert gpu.on_cores / (gpu.on_cores + gpu.on_gpu) == pytest.approx(0.2, abs=0.1)


def test_cores_compute_while_every_stream_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HostStream, "idle", False)
    plan = plan_of("miller", Problem.langford(10), 1)
    gpu = on_gpu(plan, host_program(), 2, SMALL)
    require_same(plan, gpu)
    assert gpu.on_gpu == 0 < gpu.on_cores


def test_tasks_beyond_the_last_are_refused() -> None:
    plan = plan_of("miller", Problem.langford(7))
    with pytest.raises(TaskIndexOutOfRange):
        on_gpu(plan, host_program(), 1, SMALL).evaluate(len(plan.work))


@pytest.mark.gpu
@pytest.mark.parametrize(("method", "options"), KERNELS)
def test_tasks_on_the_gpu(method: str, options: dict[str, int]) -> None:
    compiler = gpu_program()
    for problem in PROBLEMS:
        plan = plan_of(method, problem)
        require_same(plan, on_gpu(plan, compiler, 2, replace(SearchSettings(lane_colours=8), **options)))


@pytest.mark.gpu
@pytest.mark.parametrize("test_free", range(1, 7))
def test_free_colours_on_the_gpu(test_free: int) -> None:
    plan = RegularPlan(METHODS["regular"], Problem.langford(9), 1, test_free)
    require_same(plan, on_gpu(plan, gpu_program(), 2))


@pytest.mark.gpu
@pytest.mark.parametrize(
    "problem",
    [Problem.langford(15), Problem.langford(16), Problem.langford(17), Problem.skolem(13), Problem.langford(17, 3)],
    **BY_NAME,
)
def test_counts_on_the_gpu(problem: Problem) -> None:
    plan = plan_of("miller", problem, 1)
    gpu = on_gpu(plan, gpu_program(), 4)
    found = merge(plan, map(gpu.evaluate, plan.tasks))
    assert found.published == published(problem) is not None
    assert np.log10(found.evaluated / plan.work.sum()) == pytest.approx(0, abs=1)
