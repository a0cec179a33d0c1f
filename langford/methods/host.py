"""The GPU's kernels compiled for this processor: slow, but other code than the processor's own kernels."""

from __future__ import annotations

from langford.errors import MethodDoesNotApply
from langford.loading import load
from langford.methods.plan import Evaluator, Plan


def host_evaluator(plan: Plan) -> Evaluator:
    """The evaluator of a plan with its GPU kernel on this processor.

    Raises MethodDoesNotApply for a plan without one, and NoCompiler.
    """
    on_gpu = load(plan.method.evaluators["cuda"]) if "cuda" in plan.method.evaluators else None
    on_host = getattr(on_gpu, "on_host", None)
    if on_host is None:
        raise MethodDoesNotApply(
            f"{plan.method.name} has no kernel of the GPU to compile for this processor: leave --device host out"
        )
    evaluator: Evaluator = on_host(plan)
    return evaluator
