"""The counting methods, by name.  Adding one is a folder: here, or of a program with an entry point.

Others use the names of ``__all__``, ``plan``, ``speeds`` and ``choice``; tuning also knows the settings of kernels,
and irregular problems the search of ``backtracking``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from langford.devices import Device
from langford.errors import BadDepth, BadInput, BadSeed, MethodDoesNotApply, whole
from langford.extensions import Registry
from langford.methods.backtracking import Miller, Regular
from langford.methods.choice import fastest, task_depth
from langford.methods.godfrey import Godfrey
from langford.methods.merging import Count, merge
from langford.methods.necklace import Necklace
from langford.methods.plan import MAX_SEED, Evaluator, Method, Plan, PlanKey, plan_by
from langford.methods.polyphase import Polyphase
from langford.methods.shifted import Shifted, Shifted2
from langford.problem import Problem
from langford.provenance import kernel_hash

METHODS: Registry[Method] = Registry(
    "langford.methods",
    Method,  # type: ignore[type-abstract]
    {
        method.name: method
        for method in (Polyphase(), Shifted2(), Shifted(), Godfrey(), Necklace(), Miller(), Regular())
    },
)
"""In order of preference: the first one that applies counts, unless a later one is faster on the device.

Those of other installed programs come last.
"""

__all__ = [
    "MAX_SEED",
    "METHODS",
    "ChosenPlan",
    "Count",
    "Evaluator",
    "Method",
    "Plan",
    "PlanKey",
    "chosen_plan",
    "fastest_method",
    "find_method",
    "merge",
    "method_hash",
    "plan_by",
    "plan_of",
    "require_elsewhere",
    "task_depth",
]


def find_method(name: str, problem: Problem) -> Method:
    """The method of a name; raises MethodDoesNotApply when it cannot count the problem, or is not known here.

    Args:
        name: such as "polyphase".
        problem: what it is to count.
    """
    if name not in METHODS:
        raise MethodDoesNotApply(f"there is no method {name!r}; choose one of {', '.join(METHODS)}")
    reason = METHODS[name].refusal(problem)
    if reason:
        able = [other for other, method in METHODS.items() if method.refusal(problem) is None]
        instead = f"; use {' or '.join(able)}" if able else "; no method can"
        raise MethodDoesNotApply(f"{name} cannot count {problem}: {reason}{instead}")
    return METHODS[name]


def fastest_method(problem: Problem, device_kind: str, seeded: bool = False) -> Method:
    """The method that counts the problem fastest on a kind of device, by one rule for all machines.

    Args:
        problem: what is counted.
        device_kind: "cpu" or "cuda"; the method has a kernel for it.
        seeded: whether it must have a seed.

    Raises MethodDoesNotApply when no method applies.
    """
    applicable = _applicable(problem, seeded)
    names = {method.name for method in applicable}
    present = [
        method for method in applicable if device_kind in method.evaluators and method.superseded_by not in names
    ]
    if not present:
        applicable[0].require_kernel(device_kind)
    return fastest(problem, present, device_kind)


def _applicable(problem: Problem, seeded: bool) -> list[Method]:
    """The methods that can count a problem, at least one; raises MethodDoesNotApply."""
    wanted = {name: method for name, method in METHODS.items() if method.seeded or not seeded}
    reasons = {name: method.refusal(problem) for name, method in wanted.items()}
    applicable = [method for name, method in wanted.items() if reasons[name] is None]
    if applicable:
        return applicable
    kind = "no method with a seed" if seeded else "no method"
    *_, because = reasons.values()  # the last methods take the largest problems
    raise MethodDoesNotApply(f"{kind} can count {problem}: {because}")


def plan_of(key: PlanKey) -> Plan:
    """The plan that a key names, with its evaluators; the last few are kept (:func:`plan_by`).

    Args:
        key: problem, method, depth and seed.

    Raises MethodDoesNotApply, BadDepth or BadSeed.
    """
    method = METHODS.get(key.method) or find_method(key.method, key.problem)
    try:
        return plan_by(method, key)
    except MethodDoesNotApply:
        find_method(key.method, key.problem)  # names the methods that can count it
        raise


def require_elsewhere(name: str) -> None:
    """Raises MethodDoesNotApply when only this process knows a method of that name, which others would not find."""
    if name in METHODS and not METHODS.is_everywhere(name):
        raise MethodDoesNotApply(
            f"{name} is registered in this process only, and other processes would not find it: declare it as an "
            "entry point of langford.methods (docs/extending.md), or evaluate in this process with "
            "run(pool_of=jobs.pools.evaluation.InProcessPool)"
        )


def method_hash(name: str | None) -> str:
    """The hash of the code that a method counts with; for None, or an unknown method, that of all methods.

    Raises InstallationChanged.
    """
    method = METHODS.get(name or "")
    return kernel_hash() if method is None else method.kernels


@dataclass(frozen=True)
class ChosenPlan:
    """The plan that counts a problem; its depth is chosen when the plan is first read."""

    problem: Problem  # what is counted
    device: Device  # where the tasks are evaluated
    method: Method  # how
    seed: int  # which of the method's sums
    depth: int | None  # the task depth p; None: langford.methods.choice.task_depth chooses it
    task_seconds: float | None  # the time that a task may take, in seconds; None: a rule chooses the depth
    at_most: float | None  # the longest time that a task may take by the rule, in seconds
    # Whether they were given
    named: bool  # the method
    seeded: bool  # the seed

    @cached_property
    def plan(self) -> Plan:
        """The plan itself; raises BadDepth, BadSeed, and as :func:`langford.methods.choice.task_depth`."""
        depth = self.depth
        if depth is None:
            depth = task_depth(self.problem, self.method, self.device, self.task_seconds, self.at_most)
        return plan_of(PlanKey(self.problem, self.method.name, whole("a depth", depth, BadDepth), self.seed))

    @property
    def key(self) -> PlanKey:
        return self.plan.key


def chosen_plan(
    problem: Problem,
    device: Device,
    method: str | None = None,
    depth: int | None = None,
    seed: int | None = None,
    task_seconds: float | None = None,
    at_most: float | None = None,
) -> ChosenPlan:
    """Choose the method, the depth and the plan for a problem; what is given is not chosen.

    The same arguments, with any device of a kind, give the same plan on every machine.

    Args:
        problem: what is counted.
        device: where the tasks are evaluated.
        method: a name of METHODS.
        depth: the task depth p, which is checked at once.
        seed: which of the method's sums; without a method, one that has seeds is chosen.
        task_seconds: choose the depth for tasks of at most this time in seconds, on the device of the benchmarks.
        at_most: without ``task_seconds``: choose a larger depth than usual where tasks would take longer than this,
            in seconds.

    Raises:
        MethodDoesNotApply: no method, or not the named one, counts the problem, or it has no kernel for the device.
        BadDepth: the method does not split the problem at this depth.
        BadSeed: the method has no sums for this seed.
        BadInput: ``task_seconds`` is not above 0.
    """
    if task_seconds is not None and not task_seconds > 0:
        raise BadInput(f"a task takes more than 0 seconds, not {task_seconds}: give a larger task_seconds")
    seed = None if seed is None else whole("a seed", seed, BadSeed)
    if method is None:
        by = fastest_method(problem, device.kind, seed is not None)
    else:
        by = find_method(method, problem)
        by.require_kernel(device.kind)
    given = method is not None, seed is not None
    chosen = ChosenPlan(problem, device, by, by.chosen_seed(seed), depth, task_seconds, at_most, *given)
    if depth is not None:
        _ = chosen.plan  # raises BadDepth
    return chosen
