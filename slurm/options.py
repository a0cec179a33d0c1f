"""Further options of sbatch, which users give: they stand before those of langford, of which the last one holds."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from langford.errors import BadInput

HIDING = re.compile(r"-[MW]|--(clusters|test-only|uid|wait)(?![\w-])")
"""Options with which a keeper would not find its jobs, or wait for their end."""
LETTERS = {
    "-D": "--chdir",
    "-J": "--job-name",
    "-N": "--nodes",
    "-a": "--array",
    "-c": "--cpus-per-task",
    "-o": "--output",
    "-p": "--partition",
    "-t": "--time",
}
"""Those of langford's own options that sbatch knows by a letter too."""
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


def without_effect(further: Sequence[str], script: str) -> list[str]:
    """The words of further options that are options which langford sets itself, later in the script."""
    directives = re.findall(r"^#SBATCH ([^=\n]*)", script, re.MULTILINE)
    own = set(directives[len(further) :])
    words = [word for option in further for word in words_of(option)]
    return [word for word in words if LETTERS.get(word[:2], word.partition("=")[0]) in own]


def require_no_directive(setup: str) -> None:
    """Raises BadInput when sbatch would read options in a line of shell."""
    if DIRECTIVE.search(setup):
        raise BadInput(f"sbatch would read options in {setup!r}: give each of them as --sbatch=OPTION")
