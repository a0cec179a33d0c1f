"""The answer of what is published, and of the exports in ``jobs/campaigns``, where a count would take long."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import jobs
from langford.cli.exit_codes import ExitCode
from langford.cli.output import display
from langford.errors import LangfordError
from langford.methods import METHODS
from langford.problem import Problem
from langford.problem.reference import cited, published
from langford.problem.sequences import Term

CAMPAIGNS = Path(jobs.__file__).with_name("campaigns")
"""Absent where only the packages are installed."""


def exports_of(problem: Problem) -> Sequence[Path]:
    name = re.compile(rf"{re.escape(problem.name)}-(?:{'|'.join(METHODS)})-\d+(?:-seed-\d+)?\.jsonl\.gz")
    return sorted(file for file in CAMPAIGNS.rglob("*.jsonl.gz") if name.fullmatch(file.name))


@dataclass(frozen=True)
class KnownAnswer:
    """A number compared with a count that is known without counting."""

    problem: Problem
    expected: int
    known: int  # as the literature counts it
    source: str  # of the known count, in words
    exports: Sequence[Path]  # the files with all partial results of a count of the problem
    term: Term | None = None  # of a sequence, which was asked for

    @classmethod
    def of(cls, problem: Problem, expected: int, term: Term | None) -> KnownAnswer | None:
        """None: nothing is published, and no export is complete."""
        from jobs.verify.exchange import count_of

        exports = exports_of(problem)
        number, source = published(problem), f"as published ({term or cited(problem)})"
        for file in exports:
            if number is None:
                with suppress(LangfordError):
                    number, source = count_of([file])[1].published, f"by the partial sums in {file}"
        return None if number is None else cls(problem, expected, number, source, exports, term)

    @property
    def agrees(self) -> bool:
        """With the count up to the symmetries of the row, or with that of all arrangements."""
        return self.expected in (self.known, self.problem.arrangements(self.known))

    def print(self, as_json: bool) -> ExitCode:
        number, name = self.known, str(self.problem)
        if self.term is not None:
            number, name = self.term.value(number, self.problem.arrangements(number)), str(self.term)
        verdict = "agrees    with" if self.agrees else "DIFFERS   from"
        lines = [
            f"{name} = {number:,}, {self.source}; nothing was counted",
            f"  {verdict} the expected {self.expected:,}",
            *(f"  check the sums of an export: langford import {file}" for file in self.exports),
            "  give --yes to count it",
        ]
        document = {
            "problem": self.problem.name,
            "known": str(self.known),
            "source": self.source,
            "expected": str(self.expected),
            "as_expected": self.agrees,
            "counted": False,
            "exports": [str(file) for file in self.exports],
        }
        display.outcome("\n".join(lines), document, as_json)
        return ExitCode.DONE if self.agrees else ExitCode.CHECK_FAILED
