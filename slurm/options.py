"""Further options of sbatch, which users give: they stand before those of langford, of which the last one holds."""

from __future__ import annotations

import re
import shlex

from langford.errors import BadInput

HIDING = re.compile(r"-[MW]|--(clusters|test-only|wait)(?![\w-])")
"""Options with which a keeper would not find its jobs, or wait for their end."""
DIRECTIVE = re.compile(r"^#(SBATCH|PBS|BSUB)\b", re.MULTILINE)


def words_of(directive: str) -> list[str]:
    """A directive may hold several options; raises BadInput."""
    try:
        return shlex.split(directive)
    except ValueError as error:
        raise BadInput(f"{directive!r} is not an option of sbatch ({error}): close the quote") from error


def require_further(option: str) -> None:
    """Raises BadInput when a text is not an option of sbatch, or one that would hide the jobs."""
    words = words_of(option)
    if not words or not words[0].startswith("-") or "\n" in option:
        raise BadInput(f"{option!r} is not an option of sbatch: write it like --mem=2G")
    for word in filter(HIDING.match, words):
        raise BadInput(
            f"{word} of sbatch would hide the jobs from langford: leave it out, and export SLURM_CLUSTERS for "
            "another cluster"
        )


def require_no_directive(setup: str) -> None:
    """Raises BadInput when sbatch would read options in a line of shell."""
    if DIRECTIVE.search(setup):
        raise BadInput(f"sbatch would read options in {setup!r}: give each of them as --sbatch=OPTION")
