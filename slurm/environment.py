"""The environment of SLURM's commands: what would change their answers, or the choice of jobs, is kept from them.

For sbatch a variable goes before the script; for squeue and scancel each variable is a further filter or another
form of the answer.  What a site or a user sets, like SBATCH_ACCOUNT, stays where the script says nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from slurm.options import words_of

VARIABLES = {
    "array": "SBATCH_ARRAY_INX",
    "mem": "SBATCH_MEM_PER_NODE",
    "no-requeue": "SBATCH_REQUEUE",
    "requeue": "SBATCH_NO_REQUEUE",
    "time": "SBATCH_TIMELIMIT",
}
"""What replaces an option of a script, where it is not called like the option."""
UNWANTED = {"SBATCH_WAIT", "SBATCH_ERROR"}
"""sbatch would return when the job ends; errors would not stand among the logs."""
OF_JOB, OF_CLUSTER = ("SLURM_", "SLURMD_"), {"SLURM_CLUSTERS", "SLURM_CONF", "SLURM_JWT"}
"""What describes the job in which this program runs, such as SLURM_CPU_BIND, and is no business of its jobs."""
WHERE_TO_LOOK = {"SQUEUE_ALL", "SQUEUE_FEDERATION", "SQUEUE_LOCAL"}
"""They add jobs of partitions and clusters that are hidden otherwise."""


def for_sbatch(environment: Mapping[str, str], script: str) -> dict[str, str]:
    """The environment, without the variables that would replace an option of the script.

    >>> for_sbatch({"SBATCH_JOB_NAME": "x", "SBATCH_ACCOUNT": "y"}, "#SBATCH --job-name=l24-1f2e3d4c")
    {'SBATCH_ACCOUNT': 'y'}
    """
    words = [word for line in re.findall(r"^#SBATCH (.*)", script, re.MULTILINE) for word in words_of(line)]
    options = [word[2:].partition("=")[0] for word in words if word.startswith("--")]
    replacing = {VARIABLES.get(option, f"SBATCH_{option.replace('-', '_').upper()}") for option in options}
    # Jobs inherit all others: also those that are for squeue and scancel do no harm there.
    return {
        name: value
        for name, value in environment.items()
        if name not in replacing | UNWANTED and (name in OF_CLUSTER or not name.startswith(OF_JOB))
    }


def for_other_commands(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment, without what would choose other jobs or give another form of the answer.

    They ask the cluster that takes the jobs.

    >>> for_other_commands({"SQUEUE_FORMAT": "%j", "SCANCEL_NAME": "x", "SBATCH_CLUSTERS": "far"})
    {'SBATCH_CLUSTERS': 'far', 'SLURM_CLUSTERS': 'far'}
    """
    kept = {
        name: value
        for name, value in environment.items()
        if name in WHERE_TO_LOOK or not name.startswith(("SQUEUE_", "SCANCEL_"))
    }
    return kept | ({"SLURM_CLUSTERS": kept["SBATCH_CLUSTERS"]} if kept.get("SBATCH_CLUSTERS") else {})
