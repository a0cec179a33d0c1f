"""The CUDA kernel of Godfrey's sum: each task must give exactly what the CPU kernel gives."""

from __future__ import annotations

from functools import partial

import pytest

from langford.arithmetic.residue import residue
from langford.kernels.gpu.host import BLOCKS
from langford.methods import METHODS, merge
from langford.methods.godfrey.cpu import GodfreyOnCpu
from langford.methods.godfrey.cuda import GodfreyLaunch, GodfreyOnGpu
from langford.methods.godfrey.plan import GodfreyPlan
from langford.methods.polyphase.cuda import PolyphaseOnGpu
from langford.methods.polyphase.plan import PolyphasePlan
from langford.problem import Problem
from tests.library.programs import (
    BY_NAME,
    COMPILED,
    ON_THE_HOST,
    PROBLEMS,
    WIDE,
    compile_only,
    gpu_program,
    host_program,
    require_same,
    text_of,
)


def plan_of(problem: Problem) -> GodfreyPlan:
    method = METHODS["godfrey"]
    plan = method.plan(problem, min(4, method.depths(problem)[-1]))
    assert isinstance(plan, GodfreyPlan)
    return plan


@pytest.mark.parametrize(("problem", "architecture"), COMPILED, ids=str)
def test_compiles_for_gpus(problem: Problem, architecture: str) -> None:
    compile_only(text_of(partial(GodfreyOnGpu, plan_of(problem))), architecture)


@pytest.mark.parametrize("problem", ON_THE_HOST, **BY_NAME)
def test_tasks_on_the_host(problem: Problem) -> None:
    plan = plan_of(problem)
    require_same(plan, GodfreyOnGpu(plan, host_program(), GodfreyLaunch(threads=64)))


def test_some_points_of_wide_rows_on_the_host() -> None:
    # Whole tasks would take hours: the block and one free place, from the extreme point on.
    plan = plan_of(WIDE[-1])
    gpu = GodfreyOnGpu(plan, host_program(), GodfreyLaunch(threads=32))
    found = gpu.sum_over(0, 1)
    places = [gpu.free_places[0], *gpu.block_places]
    assert found == GodfreyOnCpu(plan).sum_over(0, places, [])
    assert found[0] != 0
    assert found[1] == residue(found[0])
    assert BLOCKS > 1


@pytest.mark.gpu
def test_tasks_on_the_gpu() -> None:
    compiler = gpu_program()
    for problem in (*PROBLEMS, Problem.langford(15), Problem.skolem(16)):
        plan = plan_of(problem)
        require_same(plan, GodfreyOnGpu(plan, compiler), problem.n < 13)


@pytest.mark.gpu
def test_two_kernels_agree_on_the_gpu() -> None:
    compiler = gpu_program()
    problem = Problem.langford(17)
    godfrey, polyphase = plan_of(problem), PolyphasePlan(METHODS["polyphase"], problem, 4)
    first, second = GodfreyOnGpu(godfrey, compiler), PolyphaseOnGpu(polyphase, compiler)
    assert merge(godfrey, map(first.evaluate, godfrey.tasks)).published == 0
    assert merge(polyphase, map(second.evaluate, polyphase.tasks)).published == 0
