"""Further options of sbatch, which users give: those that langford sets itself are refused."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from langford.errors import BadInput

LETTERS = {
    "D": "chdir",
    "J": "job-name",
    "M": "clusters",
    "N": "nodes",
    "W": "wait",
    "a": "array",
    "c": "cpus-per-task",
    "o": "output",
    "p": "partition",
    "t": "time",
}
"""The options below that sbatch knows by a letter too."""

OF_EVERY_JOB = {
    "chdir": "call langford in the folder where the jobs are to start",
    "clusters": "export SLURM_CLUSTERS instead, so that squeue and scancel look there too",
    "cpus-per-task": "give --cpus N to langford",
    "gres": "give --gres GRES to langford",
    "open-mode": "leave it out, the output is always appended",
    "output": "give --logs FOLDER to langford",
    "partition": "give --partition PARTITION to langford",
    "signal": "leave it out, the program gives its tasks back at this signal",
    "test-only": "give --dry-run to langford",
    "time": "give --time TIME to langford",
    "uid": "call langford as that user",
    "wait": "leave it out, sbatch must return at once",
}
OF_AN_ARRAY = {
    **OF_EVERY_JOB,
    "array": "give --max-queued N to langford, the number of workers that wait or run",
    "job-name": "leave it out, the keeper finds its jobs by this name",
    "no-requeue": "leave it out, a worker that is preempted starts again",
    "requeue": "leave it out, a worker that is preempted always starts again",
}
OF_A_RESERVATION = {
    **OF_EVERY_JOB,
    "array": "leave it out, the ranks of one job share the tasks",
    "exclusive": "leave it out, the job always has its nodes for itself",
    "job-name": "give --name NAME to langford",
    "nodes": "give --nodes N to langford",
    "ntasks-per-node": "give --tasks-per-node N to langford",
}
"""Options that langford sets itself, or that would hide jobs from it: what to do instead."""

WHOLE = {"ntasks"}
"""Options that are the beginning of another one's name."""
DIRECTIVE = re.compile(r"^#(SBATCH|PBS|BSUB)\b", re.MULTILINE)


def words_of(directive: str) -> list[str]:
    """A directive may hold several options; raises BadInput."""
    try:
        return shlex.split(directive)
    except ValueError as error:
        raise BadInput(f"{directive!r} is not an option of sbatch ({error}): close the quote") from error


def require_further(option: str, own: Mapping[str, str]) -> None:
    """Raises BadInput when a text is not an option of sbatch, or names an option in ``own``."""
    words = words_of(option)
    if not words or not words[0].startswith("-"):
        raise BadInput(f"{option!r} is not an option of sbatch: write it like --mem=2G")
    for word in words:
        for name in _options(word, own):
            raise BadInput(f"--{name} of sbatch is refused in {option!r}: {own[name]}")
        if re.match(r"-[^-]|--$", word):
            raise BadInput(f"{word!r} in {option!r} is too short: write the whole option, like --mem=2G")


def _options(word: str, own: Mapping[str, str]) -> list[str]:
    """Those of ``own`` that sbatch may see in a word."""
    if re.match("-[^-]", word):
        return [name for name in own if name == LETTERS.get(word[1])]
    if re.match("--[^=]", word):
        # The beginning of a name stands for the whole.
        given = word[2:].partition("=")[0]
        return [name for name in own if name.startswith(given) and given not in WHOLE]
    return []


def require_no_directive(setup: str) -> None:
    """Raises BadInput when sbatch would read options in a line of shell."""
    if DIRECTIVE.search(setup):
        raise BadInput(f"sbatch would read options in {setup!r}: give each of them as --sbatch=OPTION")
