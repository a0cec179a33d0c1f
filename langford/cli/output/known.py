"""The answer of what is published, and of the exports in ``jobs/campaigns``, where a count would take long."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import jobs
from langford.cli.exit_codes import ExitCode
from langford.cli.output import display
from langford.methods import METHODS
from langford.problem import Problem
from langford.problem.reference import cited, published
from langford.problem.sequences import Term

CAMPAIGNS = Path(jobs.__file__).with_name("campaigns")
"""Absent where only the packages are installed."""


@dataclass(frozen=True)
class KnownAnswer:
    """A number compared with a published count."""

    problem: Problem
    expected: int
    published: int
    term: Term | None = None  # of a sequence, which was asked for

    @classmethod
    def of(cls, problem: Problem, expected: int, term: Term | None) -> KnownAnswer | None:
        """None: nothing is published."""
        known = published(problem)
        return None if known is None else cls(problem, expected, known, term)

    @property
    def agrees(self) -> bool:
        """With the count up to the symmetries of the row, or with that of all arrangements."""
        return self.expected in (self.published, self.problem.arrangements(self.published))

    @property
    def exports(self) -> list[Path]:
        """The files with all partial results of a count of the problem."""
        name = re.compile(rf"{re.escape(self.problem.name)}-(?:{'|'.join(METHODS)})-\d+(?:-seed-\d+)?\.jsonl\.gz")
        return sorted(file for file in CAMPAIGNS.rglob("*.jsonl.gz") if name.fullmatch(file.name))

    def print(self, as_json: bool) -> ExitCode:
        number, name = self.published, str(self.problem)
        if self.term is not None:
            number, name = self.term.value(number, self.problem.arrangements(number)), str(self.term)
        verdict = "agrees    with" if self.agrees else "DIFFERS   from"
        lines = [
            f"{name} = {number:,}, as published ({self.term or cited(self.problem)}); nothing was counted",
            f"  {verdict} the expected {self.expected:,}",
            *(f"  check the sums of an export: langford import {file}" for file in self.exports),
            "  give --yes to count it",
        ]
        document = {
            "problem": self.problem.name,
            "published": str(self.published),
            "expected": str(self.expected),
            "as_expected": self.agrees,
            "counted": False,
            "exports": [str(file) for file in self.exports],
        }
        display.outcome("\n".join(lines), document, as_json)
        return ExitCode.DONE if self.agrees else ExitCode.CHECK_FAILED
