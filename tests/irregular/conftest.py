"""What tests of the irregular problems share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from langford.irregular.cuda.gpu import Gpu, gpu_by_number
from langford.kernels.gpu.cuda import CudaProgram
from langford.kernels.gpu.host import HostProgram
from langford.kernels.gpu.runtime import NoGpu
from tests.library.programs import needs
from tests.support.cases import exhaustive


@pytest.fixture(autouse=True, scope="session")
def blocks_of_a_sanitizer() -> Iterator[None]:
    """Launches with LANGFORD_TEST_BLOCKS blocks per multiprocessor, where that is set (sanitize.sh).

    A sanitizer's instructions take registers, so that fewer blocks are on a GPU at the same time than the program
    knows; kernels whose blocks wait for each other would never end.
    """
    blocks = int(os.environ.get("LANGFORD_TEST_BLOCKS", 0))
    with pytest.MonkeyPatch.context() as patch:
        if blocks:
            made = CudaProgram.__init__

            def make(program: CudaProgram, *arguments: Any) -> None:
                made(program, *arguments)
                program.blocks = blocks * program.multiprocessors

            patch.setattr(CudaProgram, "__init__", make)
        yield


@pytest.fixture(scope="module", params=[*exhaustive(["host"]), pytest.param("gpu", marks=pytest.mark.gpu)])
def gpu(request: pytest.FixtureRequest) -> Gpu:
    """The host shim, or GPU 0."""
    if request.param == "host":
        needs("g++")
        return Gpu(np, HostProgram)
    try:
        return gpu_by_number(0)
    except NoGpu as error:
        pytest.skip(f"needs a GPU: {error}")
