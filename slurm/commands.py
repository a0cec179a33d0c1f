"""SLURM as a scheduler: each method calls one of its commands, and reads the exit code."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping

from langford.errors import NotInstalled
from langford.machine.process import SHORTAGES
from langford.words import duration
from slurm.errors import SchedulerSilent, SubmissionRefused
from slurm.options import words_of
from slurm.scheduler import Element

TIMEOUT_SECONDS = 60.0
DEFAULT_MAX_ARRAY_SIZE = 1001
NO_CONFIGURATION = "Could not establish a configuration source"
"""Printed where no cluster is known, and where the network fails by which a machine gets its configuration."""


class SlurmScheduler:
    """The scheduler of this machine's SLURM cluster.  Every method raises NotInstalled or SchedulerSilent."""

    def __init__(self) -> None:
        self._has_answered = False

    def submit(self, script: str) -> str:
        """Submit a script with sbatch; returns the job's id.  Raises SubmissionRefused."""
        answer = self._call("sbatch", "--parsable", content=script)
        if answer.returncode and _is_silence(answer.stderr):
            raise _silent("sbatch", answer.stderr)
        # A site's plugins may write further lines.
        job = re.search(r"^\s*(\d+)(;\S+)?\s*$", answer.stdout, re.MULTILINE)
        if answer.returncode or job is None:
            raise SubmissionRefused(f"sbatch refused the job: {' '.join((answer.stderr or answer.stdout).split())}")
        return job.group(1)

    def elements(self, name: str) -> list[Element]:
        """From one call of squeue."""
        answer = self._ask("squeue", "-r", "-h", "-u", _user(), "-n", name, "-o", "%i|%T|%r")
        rows = (line.split("|") for line in answer.splitlines() if line.count("|") == 2)
        return [Element(*(field.strip() for field in row)) for row in rows]

    def largest_array(self) -> int:
        """MaxArraySize of the cluster, one more than the largest index."""
        setting = re.search(r"^MaxArraySize\s*=\s*(\d+)", self._ask("scontrol", "show", "config"), re.MULTILINE)
        return int(setting.group(1)) if setting else DEFAULT_MAX_ARRAY_SIZE

    def cancel_pending(self, name: str) -> None:
        self._ask("scancel", "--state=PENDING", f"--user={_user()}", f"--name={name}")

    def _ask(self, *command: str) -> str:
        answer = self._call(*command)
        if answer.returncode:
            silent = _silent(command[0], answer.stderr)
            if NO_CONFIGURATION in answer.stderr and not self._has_answered:
                raise NotInstalled(f"{silent}: SLURM is not set up here. Run this where jobs are submitted")
            raise silent
        self._has_answered = True
        return answer.stdout

    def _call(self, *command: str, content: str | None = None) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                command,
                input=content or "",
                env=for_sbatch(os.environ, content) if content else for_other_commands(os.environ),
                capture_output=True,
                text=True,
                errors="surrogateescape",  # sites' plugins and names of users may be in any encoding
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except OSError as error:
            if error.errno in SHORTAGES:
                raise SchedulerSilent(f"{command[0]} cannot be started now ({error.strerror})") from error
            found = (
                "is not installed" if isinstance(error, FileNotFoundError) else f"does not run ({error.strerror})"
            )
            raise NotInstalled(f"{command[0]} {found} here: run this where jobs are submitted") from error
        except subprocess.TimeoutExpired as error:
            raise SchedulerSilent(f"{command[0]} did not answer in {duration(TIMEOUT_SECONDS)}") from error


def _user() -> str:
    """The user whose jobs these are, as a number: USER and LOGNAME may name another one."""
    return str(os.geteuid())


def _silent(command: str, errors: str) -> SchedulerSilent:
    """``errors``: what the command printed; most of its own lines begin with its name."""
    lines = [line.removeprefix(f"{command}: ") for line in errors.splitlines() if line.strip()]
    return SchedulerSilent(f"{command}: {'; '.join(lines)}")


def _is_silence(message: str) -> bool:
    """Whether a failed command shows that SLURM's controller did not answer."""
    return any(phrase in message for phrase in ("Unable to contact", "timed out", "Connection refused"))


# -- their environment ------------------------------------------------------------------------
# What would change the answers of the commands, or the choice of jobs, is kept from them.  For sbatch a variable
# goes before the script; for squeue and scancel each variable is a further filter or another form of the answer.
# What a site or a user sets, like SBATCH_ACCOUNT, stays where the script says nothing else.

VARIABLES = {
    "array": "SBATCH_ARRAY_INX",
    "mem": "SBATCH_MEM_PER_NODE",
    "no-requeue": "SBATCH_REQUEUE",
    "requeue": "SBATCH_NO_REQUEUE",
    "time": "SBATCH_TIMELIMIT",
}
"""What replaces an option of a script, where it is not called like the option."""
UNWANTED = {"SBATCH_WAIT", "SBATCH_ERROR"}
"""sbatch would return when the job ends; errors would not be in the logs."""
OF_JOB, OF_CLUSTER = ("SLURM_", "SLURMD_"), {"SLURM_CLUSTERS", "SLURM_CONF", "SLURM_JWT"}
"""What describes the job in which this program runs, such as SLURM_CPU_BIND, and does not concern its jobs."""
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
