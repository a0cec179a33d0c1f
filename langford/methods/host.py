"""The GPU's kernels compiled for this processor: slow, but other code than the processor's own kernels."""

from __future__ import annotations

from langford.errors import MethodDoesNotApply
from langford.kernels.cuda.host import HostProgram
from langford.loading import load
from langford.methods.plan import Evaluator, Plan

ON_HOST = {
    "shifted": "langford.methods.shifted.cuda:ShiftedOnGpu",
    "polyphase": "langford.methods.polyphase.cuda:PolyphaseOnGpu",
    "godfrey": "langford.methods.godfrey.cuda:GodfreyOnGpu",
}


def host_evaluator(plan: Plan) -> Evaluator:
    """The evaluator of a plan with its GPU kernel on this processor.

    Raises MethodDoesNotApply for a method without one, and NoCompiler.
    """
    name = plan.method.name
    if name not in ON_HOST:
        raise MethodDoesNotApply(f"{name} has no kernel to compile for this processor, only {', '.join(ON_HOST)}")
    evaluator: Evaluator = load(ON_HOST[name])(plan, HostProgram)
    return evaluator
