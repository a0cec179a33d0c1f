"""The answer of every count: the number, how it was found, its checks, and how it compares with what is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from jobs.verify.agreement import Agreement, agreement
from jobs.verify.second_method import advised
from langford.cli.exit_codes import ExitCode
from langford.cli.output import display
from langford.devices import Device
from langford.methods import METHODS, Count, Method, PlanKey, find_method, method_hash
from langford.methods.merging import Check
from langford.problem import Problem
from langford.problem.sequences import Term
from langford.words import duration, rate, several, speed

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Asked:
    """What the user asks of an answer."""

    expected: int | None = None  # the number to compare the count with
    verbose: bool = False  # whether to print each check on a line
    term: Term | None = None  # of a sequence

    def number(self, published: int, arrangements: int) -> int:
        """The count that is printed: a term counts images as its sequence does."""
        return published if self.term is None else self.term.value(published, arrangements)

    def compared(self, number: int) -> dict[str, object]:
        if self.expected is None:
            return {}
        return {"expected": str(self.expected), "as_expected": self.expected == number}


NOTHING_MORE = Asked()


@dataclass(frozen=True)
class Answer:
    problem: Problem
    method: str | None  # None: nothing was computed, and no method can
    count: Count
    seconds: float
    work: float
    used: str  # text after the time and the speed, like "on 2 cores"
    how_to_find: Callable[[], str]  # what to print when the count is wrong: the commands that find the wrong task
    more: Mapping[str, object] = field(default_factory=dict)  # further fields, the first of the JSON object
    promise: str = ""  # the promised replication, in words; empty: the checks contain it, or there is none
    asked: Asked = NOTHING_MORE

    @cached_property
    def comparison(self) -> Agreement:
        return agreement(self.problem, self.count.published)

    @property
    def speed(self) -> float | None:
        """Work per second of ``seconds``; None: nothing was computed."""
        return speed(self.work, self.seconds) if self.count.tasks else None

    @property
    def _kind(self) -> Method:
        """The method that names what is evaluated: nodes where none can."""
        return METHODS[self.method or "regular"]

    def document(self) -> dict[str, object]:
        return {
            **self.more,
            "problem": self.problem.name,
            "method": self.method,
            **({} if self.asked.term is None else self.asked.term.document(self._number)),
            "count": str(self.count.published),
            "arrangements": str(self.count.arrangements),
            "tasks": self.count.tasks,
            self._kind.evaluated: str(self.count.evaluated),
            "work": self.work,
            "unit": self._kind.unit,
            "seconds": round(self.seconds, 3),
            "work_per_second": self.speed,
            "checks": list(self.count.checks),
            "kernels": method_hash(self.method),
            **self.comparison.document(),
            **self.asked.compared(self._number),
        }

    @property
    def is_expected(self) -> bool:
        """Whether the number to compare with, if any, is the one that is printed."""
        return self.asked.expected in (None, self._number)

    @property
    def _number(self) -> int:
        return self.asked.number(self.count.published, self.count.arrangements)

    def lines(self) -> list[str]:
        problem, count = self.problem, self.count
        wrong = "" if self.comparison.agrees is not False else "WRONG: "
        up_to = f" up to {problem.up_to}" if problem.up_to else ""
        unit = self._kind.unit
        # In the unit of `status`: of a search, the nodes that it visited, not as many as were expected.
        done = count.evaluated if self._kind.evaluated == unit else round(self.work)
        found = f"{several(done, unit.removesuffix('s'))} in {duration(self.seconds)} {self.used}"
        per_second = speed(done, self.seconds)
        if per_second is not None:
            found += f": {rate(per_second, unit)}"
        number, sizes = (
            f"{count.published:,}",
            f"{several(problem.n, 'colour')} of {problem.copies} on {problem.places} places",
        )
        first = [f"{wrong}{problem} = {number}", f"  arrangements{up_to}, {sizes}"]
        if self.asked.term is not None:
            all_images = self.asked.term.sequence.images and up_to
            images = f"; the sequence counts all {count.arrangements:,}" if all_images else ""
            first = [
                f"{wrong}{self.asked.term} = {self._number:,}",
                f"  {problem} = {number} arrangements{up_to}, {sizes}{images}",
            ]
        return [
            *first,
            *([f"  found by  {self.method}: {found}"] if count.tasks else []),
            *(f"  {'checked ' if count.tasks else 'computed'}  {check}" for check in self._checks),
            *([f"  promise   {self.promise}"] if self.promise else []),
            f"  {self._compared_in_words}",
            *([f"  agrees    with the expected {self.asked.expected:,}"] if self._is_said else []),
        ]

    @property
    def _checks(self) -> Iterable[str]:
        """In one line of a few words each, unless all words are asked for."""
        return self.count.checks if self.asked.verbose else [", ".join(filter(None, map(brief, self.count.checks)))]

    @property
    def _compared_in_words(self) -> str:
        verdict, compared = self.comparison.verdict, self.comparison.compared
        known = self.comparison.published
        if self.asked.term is not None and known is not None and not self.problem.obstruction:
            value = self.asked.number(known, self.problem.arrangements(known))
            compared = (
                f"{'with' if verdict == 'agrees' else 'from'} the published value {value:,} ({self.asked.term})"
            )
        return f"{verdict.upper() if verdict == 'differs' else verdict:<9} {compared}" if verdict else compared

    @property
    def _is_said(self) -> bool:
        return self.asked.expected is not None and self.is_expected

    def print(self, as_json: bool) -> ExitCode:
        display.outcome("\n".join(self.lines()), self.document(), as_json)
        return self.judged()

    def judged(self) -> ExitCode:
        if self.comparison.agrees is not False:
            return self._judged_by_expectation()
        checks = "; ".join(self.count.checks)
        display.say(
            f"langford: {self.problem} = {self.count.published:,} is wrong, it {self.comparison.words}; it passed "
            f"all checks ({checks}), but at least one task is wrong: {self.how_to_find()}"
        )
        return ExitCode.CHECK_FAILED

    def _judged_by_expectation(self) -> ExitCode:
        if self.is_expected:
            return ExitCode.DONE
        every = self.problem.up_to and self._number != self.count.arrangements
        display.say(
            f"langford: {self.asked.term or self.problem} = {self._number:,}, not the expected "
            f"{self.asked.expected:,}" + (f" ({self.count.arrangements:,} counting every image)" if every else "")
        )
        return ExitCode.CHECK_FAILED


def nothing_to_count(problem: Problem, method: str | None, asked: Asked = NOTHING_MORE) -> Answer:
    """The answer for a problem with an obstruction, of which nothing is computed.

    ``method``: its name; None: any.  Raises MethodDoesNotApply if it is named and cannot count the problem.
    """
    if method is None:
        able = next((name for name, each in METHODS.items() if each.refusal(problem) is None), None)
    else:
        able = find_method(method, problem).name
    how = "nothing" if able else "nothing: no method can compute a problem of this size"
    nothing = Count(problem, 0, 0, 0, 0, (Check(how),))
    return Answer(problem, able, nothing, 0.0, 0.0, "without counting", str, asked=asked)


def brief(check: Check) -> str:
    """A check of a count in a few words, with short powers of two; empty: there was nothing to check.

    >>> brief(Check("total divisible by 2097152", "divisible by 2097152")), brief(Check("b", "1 mod 4"))
    ('divisible by 2²¹', '1 mod 4')
    """
    return re.sub(r"(?<=divisible by )\d+", lambda found: _power(int(found[0])), check.brief)


def _power(number: int) -> str:
    exponent = number.bit_length() - 1
    if not display.has_characters("⁰"):
        return str(number)
    return f"2{str(exponent).translate(SUPERSCRIPTS)}" if exponent > 1 and number == 1 << exponent else str(number)


def count_again(key: PlanKey, device: Device, elsewhere: str) -> str:
    """What to do when the count of a plan is wrong and no ledger has its tasks; ``elsewhere``: in words."""
    other = advised(key, device)
    return f"count again with {other}, or {elsewhere}" if other else f"count again {elsewhere}"
