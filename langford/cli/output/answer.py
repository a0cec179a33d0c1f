"""The answer of every count: the number, how it was found, its checks, and how it compares with what is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jobs.verify.agreement import agreement
from langford.cli.exit_codes import ExitCode
from langford.cli.output import display
from langford.methods import METHODS, Count
from langford.problem import Problem
from langford.provenance import kernel_hash
from langford.words import duration, rate


def print_answer(
    problem: Problem,
    method: str,
    count: Count,
    seconds: float,
    used: str,
    as_json: bool,
    how_to_find: str,
    more: Mapping[str, object] | None = None,
    chosen: str = "",
    promise: str = "",
    tell: Callable[[object], None] = display.print_json,
) -> ExitCode:
    """Print a count with its checks, as text or JSON, and compare it with what is known of it.

    Args:
        problem: what was counted.
        method: name of the method.
        count: the outcome.
        seconds: the time that it took.
        used: text after the time, like "on 2 cores".
        as_json: whether to make a JSON object; ``agrees`` in it is true, false or null.
        how_to_find: said when the count is wrong: the commands that find the wrong task.
        more: further fields, the first of the JSON object.
        chosen: why this method; empty when it was given, or was the only one.
        promise: the promised replication, in words; empty: the checks contain it, or there is none.
        tell: gets the JSON object.

    Returns CHECK_FAILED when the count is wrong, else DONE.
    """
    comparison, unit = agreement(problem, count.published), METHODS[method].unit
    if as_json:
        document = {
            **(more or {}),
            "problem": problem.name,
            "method": method,
            "count": str(count.published),
            "arrangements": str(count.arrangements),
            "tasks": count.tasks,
            unit: str(count.evaluated),
            "seconds": round(seconds, 3),
            "checks": list(count.checks),
            "kernels": kernel_hash(),
            **comparison.document(),
        }
        tell(document)
    else:
        wrong = "" if comparison.agrees is not False else "WRONG: "
        print(f"{wrong}{problem} = {count.published:,}")
        up_to = " up to reversal" if problem.mirrored else ""
        speed = f", {rate(count.evaluated / seconds, unit)}" if seconds > 0 else ""
        print(f"  arrangements{up_to}, {problem.n} colours of {problem.copies} on {problem.places} places")
        if count.tasks:
            print(
                f"  found by  {method}: {count.evaluated:,} {unit} evaluated in {duration(seconds)} {used}{speed}"
            )
            if chosen:
                print(f"  chosen    {method}, {chosen}")
        for check in count.checks:
            print(f"  checked   {check}")
        if promise:
            print(f"  promise   {promise}")
        print(f"  {comparison.words}")
    if comparison.agrees is not False:
        return ExitCode.DONE
    display.say(
        f"langford: {problem} = {count.published:,} is wrong, it {_difference(comparison.words)}; it passed all "
        f"checks ({'; '.join(count.checks)}), but at least one task is wrong: {how_to_find}"
    )
    return ExitCode.CHECK_FAILED


def _difference(words: str) -> str:
    """ "DIFFERS   from …" as the part of a sentence."""
    return " ".join(words.replace("DIFFERS", "differs:" if "none can" in words else "differs", 1).split())


def other_method(method: str, problem: Problem) -> str:
    """The name of a method that counts the problem in another way than ``method``."""
    for name, other in METHODS.items():
        if name != method and other.refusal(problem) is None:
            return name
    return method
