"""Compilers of CUDA programs for tests: on the host, on GPU 0, and to machine code only."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from langford.kernels.gpu import host
from langford.kernels.gpu.cuda import CudaProgram
from langford.kernels.gpu.host import HostProgram
from langford.kernels.gpu.runtime import NoGpu, device_count
from langford.methods import Plan, merge
from langford.problem import Problem
from langford.problem.reference import published

# Programs of tests are compiled more often than they run.
host.COMPILER[host.COMPILER.index("-O1")] = "-O0"
ARCHITECTURES = ["sm_80", "sm_90"]
COMPILED = [(Problem.langford(12), ARCHITECTURES[0]), (Problem.skolem(32), ARCHITECTURES[1])]
"""(problem, architecture) that a kernel of a sum is compiled for, a second each: the smallest numbers, and the
widest ones for the latest architecture.  The host compiles and runs those between."""
PROBLEMS = [
    *(Problem.langford(n) for n in range(2, 12)),
    *(Problem.skolem(n) for n in range(1, 11)),
    Problem.named("hooked-skolem", 7),
    Problem.named("hooked-langford", 6),
    Problem.from_differences([1, 2, 5, 6, 7]),
    Problem.parse("skolem 4 fold 2"),
    Problem.parse("3 fold 3"),
]
ON_THE_HOST = [Problem.langford(8), Problem.parse("skolem 4 fold 2")]
"""Of these, what the host computes: it compiles a program for each."""
WIDE = [
    Problem.langford(20),
    Problem.langford(28),
    Problem.langford(31),
    Problem.langford(32),
    Problem.skolem(29),
    Problem.skolem(32),
]
BY_NAME: dict[str, Any] = {"ids": lambda problem: problem.name}


def needs(name: str) -> None:
    """Skip the test on a machine without this program."""
    if shutil.which(name) is None:
        pytest.skip(f"needs {name}")


def host_program() -> Any:
    """The compiler for the host."""
    needs("g++")
    return HostProgram


def gpu_program() -> Any:
    """The compiler for GPU 0; skips the test where there is none."""
    try:
        device_count()
    except NoGpu as error:
        pytest.skip(f"needs a GPU: {error}")
    return partial(CudaProgram, 0)


def text_of(make: Callable[[Any], object]) -> str:
    """The source text that an evaluator, made with a compiler, has compiled."""
    texts: list[str] = []

    def keep(text: str, main: str, threads: int) -> None:
        texts.append(text)
        raise StopIteration

    with pytest.raises(StopIteration):
        make(keep)
    return texts[0]


def require_same(plan: Plan, gpu: Any, compared: bool = True) -> None:
    """Fails unless each task gives exactly what the processor gives, and all together the count that is known.

    ``compared``: whether the processor evaluates the tasks too.
    """
    results = [gpu.evaluate(index) for index in plan.tasks]
    if compared:
        assert results == [plan.evaluate(index) for index in plan.tasks]
    for result in results:
        plan.expectation(result.index).check(result)
    known = published(plan.problem)
    assert merge(plan, results).published == known or known is None


def compile_only(text: str, architecture: str, *options: str) -> None:
    """Compile a program for an architecture by NVRTC, as on a GPU's machine; fails with the compiler's message.

    It optimises little, which takes a fifth of the time and refuses the same.
    """
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="needs cuda-bindings and nvidia-cuda-nvrtc")
    target = f"--gpu-architecture={architecture}"
    every = target, "--std=c++17", "--device-int128", "--Ofast-compile=max", *options
    _, program = nvrtc.nvrtcCreateProgram(text.encode(), b"program.cu", 0, [], [])
    (outcome,) = nvrtc.nvrtcCompileProgram(program, len(every), [option.encode() for option in every])
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    log = bytes(size)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(program)
    assert outcome == nvrtc.nvrtcResult.NVRTC_SUCCESS, log.rstrip(b"\0").decode()
