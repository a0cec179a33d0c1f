"""The CUDA polyphase kernel: compiled for GPUs, run on the host thread by thread, run on a GPU.

Wherever it runs, each task must give exactly what the CPU kernel gives: value, residue and
number of survivors.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
from click.testing import CliRunner

from langford.cli.main import cli
from langford.errors import BadDepth, MethodDoesNotApply
from langford.kernels.gpu.program import source_of
from langford.kernels.gpu.runtime import NoGpu
from langford.methods import METHODS
from langford.methods.polyphase.cpu import PolyphaseOnCpu
from langford.methods.polyphase.cuda import (
    KERNELS,
    THREADS,
    PolyphaseOnGpu,
    PolyphaseUBlockOnDevice,
    definitions,
    require_few_launches,
)
from langford.methods.polyphase.plan import PolyphasePlan
from langford.methods.polyphase.tables import PolyphaseUBlock
from langford.problem import Problem
from langford.version import install
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
)


def plan_of(problem: Problem, depth: int) -> PolyphasePlan:
    return PolyphasePlan(METHODS["polyphase"], problem, depth)


@pytest.mark.parametrize(
    ("problem", "architecture"), [*COMPILED, (Problem.skolem(32), "sm_90a")], ids=str
)  # the last with instructions of warpgroups
def test_compiles_for_gpus(problem: Problem, architecture: str) -> None:
    text = source_of(KERNELS / "polyphase.cu", definitions(plan_of(problem, 4), THREADS))
    compile_only(text, architecture)


def test_compiles_without_tensor_cores() -> None:
    text = source_of(KERNELS / "polyphase.cu", definitions(plan_of(Problem.langford(12), 4), THREADS))
    compile_only(text, "sm_80", "-DWITHOUT_TENSOR_CORES")


@pytest.mark.exhaustive
@pytest.mark.parametrize("problem", ON_THE_HOST, **BY_NAME)
def test_tasks_on_the_host(problem: Problem) -> None:
    depth = min(4, METHODS["polyphase"].depths(problem)[-1])
    plan = plan_of(problem, depth)
    require_same(plan, PolyphaseOnGpu(plan, host_program(), threads=64))


@pytest.mark.exhaustive
def test_blocks_of_wide_rows_on_the_host() -> None:
    # Whole tasks would take hours: three u's, the extreme one first, and one small tile.
    problem = WIDE[-1]
    plan = plan_of(problem, 0)
    few = np.array([0, 5, 2**problem.n // 3])
    block = PolyphaseUBlock(few, np.array([4, 2, 4]), np.array([1, 64, 2**40]))
    gpu = PolyphaseOnGpu(plan, host_program(), threads=32, tile_bits=7)
    there = PolyphaseUBlockOnDevice(*block, len(few), block.highest)
    expected = PolyphaseOnCpu(plan, tile_bits=7).sum_over([block], [0])
    assert gpu.sum_over([there], [0]) == expected
    assert expected[0] != 0


@pytest.mark.exhaustive
def test_lists_of_more_than_half_of_all_v_on_the_host() -> None:
    # One even sum, of outer signs alone: threads find all of their v's alive.
    plan = plan_of(Problem.from_differences([*range(1, 22, 2), 20]), 8)
    gpu = PolyphaseOnGpu(plan, host_program(), threads=32)
    index = int(plan.work.argmax())
    assert gpu.evaluate(index) == plan.evaluate(index)


def test_tasks_in_whole_numbers_on_the_host() -> None:
    plan = plan_of(Problem.skolem(8), 4)
    program = host_program()
    whole = PolyphaseOnGpu(
        plan, lambda text, *rest: program("#define WITHOUT_WARPGROUPS\n" + text, *rest), threads=64
    )
    require_same(plan, whole)


def test_too_wide_rows_are_refused() -> None:
    with pytest.raises(MethodDoesNotApply, match="on the GPU needs"):
        definitions(plan_of(Problem.langford(35), 0), THREADS)


def test_tasks_too_large_for_a_gpu_are_refused() -> None:
    with pytest.raises(BadDepth, match="8 or more"):
        require_few_launches(plan_of(Problem.langford(31), 4))


def test_a_machine_without_cupy_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    done = CliRunner().invoke(cli, ["count", "8", "--device", "cuda"])
    assert isinstance(done.exception, NoGpu)
    assert install("cuda12") in str(done.exception)


@pytest.mark.gpu
def test_tasks_without_warpgroups_or_tensor_cores_on_the_gpu() -> None:
    compiler = gpu_program()
    plan = plan_of(Problem.langford(12), 4)
    for other in ("WITHOUT_WARPGROUPS", "WITHOUT_TENSOR_CORES"):
        gpu = PolyphaseOnGpu(plan, lambda text, *rest, other=other: compiler(f"#define {other}\n{text}", *rest))
        require_same(plan, gpu)


@pytest.mark.gpu
def test_tasks_on_the_gpu() -> None:
    compiler = gpu_program()
    for problem in (*PROBLEMS, Problem.langford(16), Problem.skolem(17), Problem.langford(19)):
        plan = plan_of(problem, min(4, METHODS["polyphase"].depths(problem)[-1]))
        require_same(plan, PolyphaseOnGpu(plan, compiler), problem.n < 18)


@pytest.mark.gpu
def test_tiles_of_several_blocks_on_the_gpu() -> None:
    compiler = gpu_program()
    plan = plan_of(Problem.langford(24), 20)
    gpu = PolyphaseOnGpu(plan, compiler)
    for index in (0, 1, len(plan.work) - 1):
        assert gpu.evaluate(index) == plan.evaluate(index)
