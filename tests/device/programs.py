"""Compilers of CUDA programs for tests: on the host, on GPU 0, and to machine code only."""

from __future__ import annotations

import shutil
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from langford.kernels.cuda.host import HostProgram
from langford.kernels.cuda.runtime import CudaProgram, NoGpu, device_count
from langford.kernels.cuda.source import FOLDER
from langford.problem import Problem

ARCHITECTURES = ["sm_80", "sm_90"]
PROBLEMS = [
    *(Problem.langford(n) for n in range(2, 12)),
    *(Problem.skolem(n) for n in range(1, 11)),
    Problem.hooked_skolem(7),
    Problem.hooked_langford(6),
    Problem.from_differences([1, 2, 5, 6, 7]),
]
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


def compile_only(folder: Path, text: str, architecture: str, *options: str) -> None:
    """Compile a program for an architecture; fails with the compiler's message."""
    needs("nvcc")
    source = folder / "program.cu"
    source.write_text(text)
    target = f"arch={architecture.replace('sm', 'compute')},code={architecture}"
    compiled = subprocess.run(
        [
            "nvcc",
            "-std=c++17",
            f"-I{FOLDER}",
            "-gencode",
            target,
            *options,
            "-cubin",
            "-o",
            folder / "program",
            source,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert compiled.returncode == 0, compiled.stderr
