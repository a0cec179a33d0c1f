"""The CUDA kernel of Godfrey's sum: each task must give exactly what the CPU kernel gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from langford.arithmetic import limbs
from langford.arithmetic.residue import residue
from langford.methods import METHODS, merge
from langford.methods.godfrey import GodfreyPlan, outside_in
from langford.methods.godfrey_cuda import GodfreyEvaluator, Launch
from langford.problem import Problem
from langford.reference import published
from tests.device.host_compiled import BLOCKS, HostProgram
from tests.device.programs import ARCHITECTURES, BY_NAME, PROBLEMS, WIDE, compile_only, gpu_program, host_program

SMALL = [problem for problem in PROBLEMS if problem.places <= 18]


def plan_of(problem: Problem) -> GodfreyPlan:
    method = METHODS["godfrey"]
    plan = method.plan(problem, min(4, method.depths(problem)[-1]))
    assert isinstance(plan, GodfreyPlan)
    return plan


class Texts:
    """A compiler that only keeps the source text."""

    def __call__(self, text: str, main: str, threads: int) -> HostProgram:
        self.text = text
        raise StopIteration


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("problem", [Problem.langford(12), *WIDE], **BY_NAME)
def test_compiles_for_gpus(tmp_path: Path, problem: Problem, architecture: str) -> None:
    texts = Texts()
    with pytest.raises(StopIteration):
        GodfreyEvaluator(plan_of(problem), texts)
    compile_only(tmp_path, texts.text, architecture)


@pytest.mark.parametrize("problem", SMALL, **BY_NAME)
def test_tasks_on_the_host(problem: Problem) -> None:
    plan = plan_of(problem)
    gpu = GodfreyEvaluator(plan, host_program(), Launch(threads=64))
    results = [gpu.evaluate(index) for index in range(len(plan.work))]
    assert results == [plan.evaluate(index) for index in range(len(plan.work))]


@pytest.mark.parametrize("problem", WIDE, **BY_NAME)
def test_some_points_of_wide_rows_on_the_host(problem: Problem) -> None:
    # Whole tasks would take hours: the block and one free place, from the extreme point on.
    plan = plan_of(problem)
    gpu = GodfreyEvaluator(plan, host_program(), Launch(threads=32))
    inner = outside_in(problem)[plan.depth :]
    block = len(inner) - gpu._free_count
    gpu._free_count = 1
    found = gpu.evaluate(0)
    places = [inner[0], *inner[::-1][:block]]
    positions = np.array([place - 1 + plan._reach for place in places], np.int64)
    total, rest = limbs.zero(plan._bound), limbs.zero(2**190)
    survivors = plan._gray_sum(0, positions, plan._block[:0], total, rest)
    weight = int(plan._weights[0])
    assert found.value == weight * limbs.to_int(total) != 0
    assert found.residue == residue(found.value) == residue(weight * limbs.to_int(rest))
    assert found.evaluated == survivors
    assert BLOCKS > 1


@pytest.mark.gpu
@pytest.mark.parametrize("problem", [*PROBLEMS, Problem.langford(15), Problem.skolem(16)], **BY_NAME)
def test_tasks_on_the_gpu(problem: Problem) -> None:
    plan = plan_of(problem)
    gpu = GodfreyEvaluator(plan, gpu_program())
    results = [gpu.evaluate(index) for index in range(len(plan.work))]
    if problem.n < 13:
        assert results == [plan.evaluate(index) for index in range(len(plan.work))]
    known = published(problem)
    assert merge(plan, results).published == known or known is None


@pytest.mark.gpu
def test_two_kernels_agree_on_the_gpu() -> None:
    from langford.methods.polyphase import PolyphasePlan
    from langford.methods.polyphase_cuda import GpuEvaluator

    compiler = gpu_program()
    problem = Problem.langford(17)
    godfrey, polyphase = plan_of(problem), PolyphasePlan(problem, 4)
    first, second = GodfreyEvaluator(godfrey, compiler), GpuEvaluator(polyphase, compiler)
    assert merge(godfrey, map(first.evaluate, range(len(godfrey.work)))).published == 0
    assert merge(polyphase, map(second.evaluate, range(len(polyphase.work)))).published == 0
