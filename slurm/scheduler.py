"""SLURM's own commands, one method each.  Their exit codes are always read."""

from __future__ import annotations

import getpass
import re
import subprocess
from dataclasses import dataclass

from slurm.errors import NoSlurm, SchedulerSilent, SubmissionRefused

TIMEOUT_SECONDS = 60.0
DEFAULT_MAX_ARRAY_SIZE = 1001


@dataclass(frozen=True)
class Element:
    """One element of a job array that SLURM still knows as waiting, running or ending.

    One that is ending (COMPLETING) may have been preempted, and then waits again.
    """

    id: str
    state: str
    """SLURM's word: PENDING, RUNNING, COMPLETING, …"""


class Scheduler:
    """The cluster's scheduler; raises NoSlurm and SchedulerSilent."""

    def submit(self, script: str) -> str:
        """Submit a script; the job's id.  Raises SubmissionRefused."""
        done = self._call("sbatch", "--parsable", content=script)
        if done.returncode and _is_silence(done.stderr):
            raise SchedulerSilent(f"sbatch: {done.stderr.strip()}")
        job = done.stdout.partition(";")[0].strip()
        if done.returncode or not job.isdecimal():
            raise SubmissionRefused(f"sbatch refuses the job: {(done.stderr or done.stdout).strip()}")
        return job

    def elements(self, name: str) -> list[Element]:
        """This user's array elements of that name, in one question."""
        done = self._call("squeue", "-r", "-h", "-u", getpass.getuser(), "-n", name, "-o", "%i|%T")
        if done.returncode:
            raise SchedulerSilent(f"squeue: {done.stderr.strip()}")
        rows = (line.split("|") for line in done.stdout.splitlines() if line.count("|") == 1)
        return [Element(*(field.strip() for field in row)) for row in rows]

    def largest_array(self) -> int:
        """Most elements of one array: the site's MaxArraySize is one more than the largest index."""
        done = self._call("scontrol", "show", "config")
        if done.returncode:
            raise SchedulerSilent(f"scontrol: {done.stderr.strip()}")
        found = re.search(r"^MaxArraySize\s*=\s*(\d+)", done.stdout, re.MULTILINE)
        return int(found.group(1)) if found else DEFAULT_MAX_ARRAY_SIZE

    def cancel_pending(self, name: str) -> None:
        """Cancel this user's elements of that name that have not started."""
        done = self._call("scancel", "--state=PENDING", f"--user={getpass.getuser()}", f"--name={name}")
        if done.returncode:
            raise SchedulerSilent(f"scancel: {done.stderr.strip()}")

    def _call(self, *command: str, content: str | None = None) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                command, input=content, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
            )
        except FileNotFoundError as error:
            raise NoSlurm(
                f"there is no {command[0]} here: run this where jobs are submitted, or use --dry-run"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise SchedulerSilent(f"{command[0]} did not answer in {TIMEOUT_SECONDS:.0f} s") from error


def _is_silence(message: str) -> bool:
    return any(sign in message for sign in ("Unable to contact", "timed out", "Connection refused"))
