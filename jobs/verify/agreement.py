"""Compare a merged count with an independent value: the published one, or an estimate by random walks.

Code that counts never reads the published values; the comparison comes after the count.
"""

from __future__ import annotations

from dataclasses import dataclass

from langford.errors import MethodDoesNotApply
from langford.methods.backtracking import Miller
from langford.problem import Problem
from langford.problem.reference import cited, published

WALKS = 20_000
"""The number of random walks of an estimate; they take less than a second."""
MIN_FRUITFUL = 1000
"""The minimum number of walks that find arrangements; with fewer, the standard error is meaningless."""
MAX_STANDARD_ERRORS = 10.0
"""A count that is further away from its estimate is considered wrong."""


@dataclass(frozen=True)
class Agreement:
    """A count beside the independent value with which it is compared."""

    problem: Problem
    count: int
    published: int | None  # the published count; None when there is none
    # By random walks, when nothing is published; None when there are too few fruitful walks
    estimate: float | None = None
    standard_error: float | None = None

    @property
    def standard_errors(self) -> float | None:
        """None without an estimate."""
        if self.estimate is None or not self.standard_error:
            return None
        return abs(self.count - self.estimate) / self.standard_error

    @property
    def agrees(self) -> bool | None:
        """True or False where the published value or the estimate decides; None where neither can.

        An estimate can only refute: near it, the count is not known to be right.
        """
        if self.published is not None:
            return self.count == self.published
        far = self.standard_errors
        return False if far is not None and far > MAX_STANDARD_ERRORS else None

    @property
    def words(self) -> str:
        """Such as "agrees with the published value …", "differs from …", or "not compared: …"."""
        return f"{self.verdict} {self.compared}".strip()

    @property
    def verdict(self) -> str:
        """ "agrees", "differs" or "consistent"; empty: the count is not compared."""
        if self.published is None and self.standard_errors is None:
            return ""
        return {True: "agrees", False: "differs", None: "consistent"}[self.agrees]

    @property
    def compared(self) -> str:
        """With what the count is compared, after :attr:`verdict`; or why it is not."""
        than = "from" if self.agrees is False else "with"
        if self.problem.obstruction:
            return f"{than} 0: no arrangement exists, {self.problem.obstruction}"
        if self.published is not None:
            return f"{than} the published value {self.published:,} ({cited(self.problem)})"
        far = self.standard_errors
        if far is None or self.estimate is None:
            return "not compared: no published value, and no reliable estimate by random walks"
        return (
            f"{than} a random-walk estimate of {self.estimate:.4g} ± {self.standard_error:.2g} "
            f"({far:.1f} standard errors; no published value)"
        )

    def document(self) -> dict[str, object]:
        """``agrees`` is null where nothing decides."""
        return {
            "published": None if self.published is None else str(self.published),
            "agrees": self.agrees,
            "estimate": self.estimate,
            "standard_errors": self.standard_errors,
        }


def agreement(problem: Problem, count: int) -> Agreement:
    """Compare a count with the published value; where there is none, with an estimate by random walks.

    Args:
        problem: what was counted.
        count: as the literature counts it, see :meth:`langford.problem.Problem.published`.
    """
    known = published(problem)
    if known is not None or Miller().refusal(problem):
        return Agreement(problem, count, known)
    from langford.methods.backtracking.estimation import estimate

    try:
        walked = estimate(problem, WALKS)
    except MethodDoesNotApply:
        return Agreement(problem, count, None)
    if walked.fruitful < MIN_FRUITFUL:
        return Agreement(problem, count, None)
    return Agreement(problem, count, None, walked.value, walked.standard_error)


def recomputing(*names: str) -> str:
    """The commands that find the wrong task of a campaign, or of one of several.

    >>> recomputing("l24")
    '`langford verify l24 --sample 100%`'
    """
    return " and ".join(f"`langford verify {name} --sample 100%`" for name in names)
