"""SLURM as a scheduler: each method calls one of its commands, and reads the exit code."""

from __future__ import annotations

import os
import re
import subprocess

from langford.errors import NotInstalled
from slurm.environment import for_other_commands, for_sbatch
from slurm.errors import SchedulerSilent, SubmissionRefused
from slurm.scheduler import Element

TIMEOUT_SECONDS = 60.0
DEFAULT_MAX_ARRAY_SIZE = 1001


class SlurmScheduler:
    """The scheduler of this machine's SLURM cluster.  Every method raises NotInstalled or SchedulerSilent."""

    def submit(self, script: str) -> str:
        """Submit a script with sbatch; returns the job's id.  Raises SubmissionRefused."""
        answer = self._call("sbatch", "--parsable", content=script)
        if answer.returncode and _is_silence(answer.stderr):
            raise SchedulerSilent(f"sbatch: {answer.stderr.strip()}")
        # A site's plugins may write further lines.
        job = re.search(r"^\s*(\d+)(;\S+)?\s*$", answer.stdout, re.MULTILINE)
        if answer.returncode or job is None:
            raise SubmissionRefused(f"sbatch refused the job: {(answer.stderr or answer.stdout).strip()}")
        return job.group(1)

    def elements(self, name: str) -> list[Element]:
        """From one call of squeue."""
        answer = self._call("squeue", "-r", "-h", "-u", _user(), "-n", name, "-o", "%i|%T|%r")
        if answer.returncode:
            raise SchedulerSilent(f"squeue: {answer.stderr.strip()}")
        rows = (line.split("|") for line in answer.stdout.splitlines() if line.count("|") == 2)
        return [Element(*(field.strip() for field in row)) for row in rows]

    def largest_array(self) -> int:
        """MaxArraySize of the cluster, one more than the largest index."""
        answer = self._call("scontrol", "show", "config")
        if answer.returncode:
            raise SchedulerSilent(f"scontrol: {answer.stderr.strip()}")
        setting = re.search(r"^MaxArraySize\s*=\s*(\d+)", answer.stdout, re.MULTILINE)
        return int(setting.group(1)) if setting else DEFAULT_MAX_ARRAY_SIZE

    def cancel_pending(self, name: str) -> None:
        answer = self._call("scancel", "--state=PENDING", f"--user={_user()}", f"--name={name}")
        if answer.returncode:
            raise SchedulerSilent(f"scancel: {answer.stderr.strip()}")

    def _call(self, *command: str, content: str | None = None) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                command,
                input=content or "",
                env=for_sbatch(os.environ, content) if content else for_other_commands(os.environ),
                capture_output=True,
                text=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except FileNotFoundError as error:
            raise NotInstalled(
                f"{command[0]} is not installed here: run this where jobs are submitted, or use --dry-run"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise SchedulerSilent(f"{command[0]} did not answer in {TIMEOUT_SECONDS:.0f} s") from error


def _user() -> str:
    """The user whose jobs these are, as a number: USER and LOGNAME may name another one."""
    return str(os.geteuid())


def _is_silence(message: str) -> bool:
    """Whether a failed command shows that SLURM's controller did not answer."""
    return any(phrase in message for phrase in ("Unable to contact", "timed out", "Connection refused"))
