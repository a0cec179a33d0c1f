"""A statement about a verification: what was recomputed and what was not, in words and as JSON."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.files.promise import Promise
from db.files.promise import document as promise_document
from jobs.verify.recomputation import Comparison, Coverage, values_in_words
from langford.devices import Device
from langford.errors import BadInput, WrongResult
from langford.machine.durable import FileTooLarge, content
from langford.machine.outputs import OutputForm
from langford.machine.process import user
from langford.methods import PlanKey, method_hash
from langford.provenance import versions
from langford.words import instant

SEPARATOR = "\n---\n"
FORMAT = "langford verification 1"
FORM = OutputForm("a statement", b"Verification of the campaign ")
MAX_BYTES = 64 * 2**20
"""The size of a statement about several hundred thousand tasks."""


class ChangedStatement(WrongResult):
    """The text of a statement does not match its numbers."""


@dataclass(frozen=True)
class Statement:
    """A verification and its outcome, as one JSON object."""

    document: Mapping[str, Any]

    @property
    def words(self) -> str:
        document = self.document
        coverage = document["coverage"]
        seed = f" with seed {document['seed']}" if document.get("seed") else ""
        lines = [
            f"Verification of the campaign {document['campaign']}: {document['problem']} by {document['method']} "
            f"at depth {document['depth']}{seed}, {coverage['tasks']} tasks.",
            f"By {document['by']} on {document['host']}, {document['when']}, langford "
            f"{document['versions'].get('langford')}, kernels {document['kernels']}, device {document['device']}.",
            f"Verified: {coverage['words']}; recomputed by {document['how']}.",
            f"Outcome: {document['outcome']}.",
            *(f"  task {task['task']}: {_values(task)}: {task['verdict']}" for task in document["tasks"]),
            f"What it proves: {coverage['proof']}.",
            # Of earlier versions: the first only some say, the second some do not.
            *(f"Checked without recomputing: {check}." for check in document.get("checks", ())),
            *([f"Replication: {document['promise']}."] if "promise" in document else []),
            f"Not verified: {document['not_verified']}.",
            "The stored results of these tasks came from:",
            *(f"  {number} results: {source}" for source, number in document["sources"].items()),
        ]
        return "\n".join(lines)

    def to_text(self) -> str:
        """The content of the file: the text, and then the JSON object from which it was made."""
        return f"{self.words}{SEPARATOR}{json.dumps(self.document, indent=2, sort_keys=True)}\n"

    @classmethod
    def read(cls, file: Path) -> Statement:
        """Raises BadInput, ChangedStatement or OSError."""
        try:
            text = content(file, MAX_BYTES).decode("utf-8-sig")
        except (UnicodeDecodeError, FileTooLarge) as error:
            raise BadInput(f"{file} is not text: choose a file that `langford verify --statement` wrote") from error
        return cls.from_text(text)

    @classmethod
    def from_text(cls, text: str) -> Statement:
        """The inverse of :meth:`to_text`; raises BadInput or ChangedStatement."""
        words, _, body = text.partition(SEPARATOR)
        try:
            statement = cls(json.loads(body))
            if statement.document["format"] != FORMAT:
                raise BadInput(f"the statement has another format than {FORMAT!r}: use the version that wrote it")
            again = statement.words
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise BadInput(
                f"not a statement of `langford verify --statement` ({repr(error)[:200]}): choose another file"
            ) from error
        if again != words:
            raise ChangedStatement(
                "the text of the statement does not match its numbers: it was changed; get it again from its author"
            )
        return statement


def _values(task: Mapping[str, Any]) -> str:
    """Statements before November 2026 lack the numbers of terms."""
    terms = task.get("stored_terms"), task.get("recomputed_terms")
    return values_in_words(task["stored"], task["recomputed"], *terms)


def _text(number: int | None) -> str | None:
    """As text, since readers of JSON may keep only 53 bits."""
    return None if number is None else str(number)


def statement_of(
    name: str,
    key: PlanKey,
    comparisons: Sequence[Comparison],
    coverage: Coverage,
    how: str,
    device: Device,
    counted_sources: Mapping[str, int],
    promise: Promise | None,
) -> Statement:
    """The statement about a verification by this user, here and now.

    Args:
        counted_sources: how many of the compared results come from each source.
        promise: of the campaign, after the verification; None: none is recorded.
    """
    wrong = [comparison.index for comparison in comparisons if comparison.verdict == "differs"]
    compared = [comparison for comparison in comparisons if comparison.stored is not None]
    left = coverage.tasks - coverage.compared
    outcome = (
        f"all {len(compared)} recomputed values agree with the stored ones" if compared else "nothing was compared"
    )
    if wrong:
        outcome = f"{len(wrong)} of {len(compared)} tasks differ: {', '.join(map(str, wrong))}"
    return Statement(
        {
            "format": FORMAT,
            "campaign": name,
            "problem": key.problem.name,
            "method": key.method,
            "depth": key.depth,
            "seed": key.seed,
            "by": user(),
            "host": platform.node(),
            "when": f"{instant(time.time())} UTC",
            "kernels": method_hash(key.method),
            "versions": versions(),
            "device": device.described,
            "how": how,
            "outcome": outcome,
            "agrees": not wrong if compared else None,
            "tasks": [
                {
                    "task": comparison.index,
                    "stored": _text(comparison.stored),
                    "recomputed": _text(comparison.recomputed),
                    "stored_terms": _text(comparison.stored_terms),
                    "recomputed_terms": _text(comparison.recomputed_terms),
                    "verdict": comparison.verdict,
                }
                for comparison in comparisons
            ],
            "coverage": {
                "compared": coverage.compared,
                "done": coverage.done,
                "tasks": coverage.tasks,
                "share_of_work": coverage.work,
                "seed": coverage.seed,
                "finds_one_wrong": None if coverage.seed is None else coverage.finds(1),
                "words": coverage.words,
                "proof": coverage.proof,
            },
            **promise_document(promise),
            "not_verified": f"the other {left} tasks" if left else "no task: all were recomputed",
            "sources": dict(counted_sources),
        }
    )
