"""The answer without counting: what is published, what an export in ``jobs/campaigns`` has, or the empty row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import jobs
from langford.cli.exit_codes import ExitCode
from langford.cli.output import display
from langford.cli.output.answer import Asked
from langford.errors import LangfordError
from langford.methods import METHODS
from langford.problem import Problem
from langford.problem.reference import cited, published
from langford.problem.sequences import NO_COLOUR

CAMPAIGNS = Path(jobs.__file__).with_name("campaigns")
"""Absent where only the packages are installed."""


def exports_of(problem: Problem) -> Sequence[Path]:
    name = re.compile(rf"{re.escape(problem.name)}-(?:{'|'.join(METHODS)})-\d+(?:-seed-\d+)?\.jsonl\.gz")
    return sorted(file for file in CAMPAIGNS.rglob("*.jsonl.gz") if name.fullmatch(file.name))


@dataclass(frozen=True)
class KnownAnswer:
    """A count that is known without counting, compared with the number that is expected."""

    problem: Problem | None  # None: NO_COLOUR
    number: int  # with images as the literature, or the sequence that was asked for, counts them
    source: str  # of the number, in words
    asked: Asked
    exports: Sequence[Path] = ()  # the files with all partial results of a count of the problem

    @classmethod
    def of(cls, problem: Problem, asked: Asked) -> KnownAnswer | None:
        """None: nothing is published, and no export is complete."""
        from jobs.verify.exchange import count_of

        exports, term = exports_of(problem), asked.term
        known, source = published(problem), f"as published ({term or cited(problem)})"
        for file in exports:
            if known is None:
                with suppress(LangfordError):
                    known, source = count_of([file])[1].published, f"by the partial sums in {file}"
        if known is None:
            return None
        return cls(problem, asked.number(known, problem.arrangements(known)), source, asked, exports)

    @classmethod
    def of_no_colour(cls, asked: Asked) -> KnownAnswer:
        return cls(None, 1, NO_COLOUR, asked)

    @property
    def agrees(self) -> bool:
        return self.asked.expected in (None, self.number)

    def print(self, as_json: bool) -> ExitCode:
        expected, term = self.asked.expected, self.asked.term
        lines = [f"{term or self.problem} = {self.number:,}, {self.source}; nothing was counted"]
        if expected is not None:
            lines.append(f"  {'agrees    with' if self.agrees else 'DIFFERS   from'} the expected {expected:,}")
        exports = [quote(str(file)) for file in self.exports]
        lines += [f"  check the sums of an export: langford result --from {file}" for file in exports]
        if self.problem is not None:
            lines.append("  give --yes to count it")
        document = {
            "problem": self.problem and self.problem.name,
            **({} if term is None else term.document(self.number)),
            "known": str(self.number),
            "source": self.source,
            **self.asked.compared(self.number),
            "counted": False,
            "exports": [str(file) for file in self.exports],
        }
        display.outcome("\n".join(lines), document, as_json)
        return ExitCode.DONE if self.agrees else ExitCode.CHECK_FAILED
