"""Every GPU of a machine counts, and one that is lost to its process costs that process alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.pools.evaluation import evaluate
from langford.devices import Cuda
from langford.kernels.gpu.runtime import device_count
from langford.methods import METHODS, PlanKey, merge, plan_of
from langford.problem import Problem
from langford.problem.reference import published
from tests.library.programs import gpu_program
from tests.support.command_line import Run, planted

ILLEGAL = """
import os, sys
if "--multiprocessing-fork" in sys.orig_argv:
    from langford.methods.polyphase.cuda import PolyphaseOnGpu
    evaluate = PolyphaseOnGpu.evaluate
    def broken(self, index):
        if not os.path.exists("broken"):
            open("broken", "w").close()
            import cupy
            write = cupy.RawKernel('extern "C" __global__ void write(int *p) { *p = 1; }', "write")
            write((1,), (1,), (cupy.int64(64),))
        return evaluate(self, index)
    PolyphaseOnGpu.evaluate = broken
"""


@pytest.mark.gpu
@pytest.mark.parametrize("method", METHODS)
def test_the_last_gpu_counts_as_the_processor_does(method: str) -> None:
    gpu_program()
    rows = [Problem.langford(8), Problem.named("starter", 6)]
    problem = next(each for each in rows if METHODS[method].refusal(each) is None)
    plan = plan_of(PlanKey(problem, method, METHODS[method].depths(problem)[0]))
    last = Cuda(device_count() - 1)
    results = [evaluate(plan, index, last).result for index in plan.tasks]
    assert results == [plan.evaluate(index) for index in plan.tasks]
    assert merge(plan, results).published == published(plan.problem)


@pytest.mark.gpu
def test_after_an_illegal_access_another_process_goes_on(langford: Run, tmp_path: Path) -> None:
    gpu_program()
    words = ["run", "langford", "16", "--method", "polyphase", "--depth", "12", "--device", "cuda"]
    done = langford(*words, variables=planted(tmp_path / "planted", ILLEGAL))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("L(2,16) = 326,721,800\n")
    assert done.stderr.count("is lost to this process (CUDARuntimeError: ") == 1, done.stderr
    assert "failed and" not in done.stderr
