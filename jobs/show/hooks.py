"""The command that notifies an operator: it reads a document."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from contextlib import suppress
from typing import IO

from langford.errors import BadInput
from langford.words import duration

COMMAND_SECONDS = 60.0
"""How long a command may run."""
MAX_COMPLAINT = 300
"""Characters of the output of a command that are reported."""


class NotDelivered(Exception):
    """A notification did not arrive; the message says why."""


class CommandHook:
    """A command that gets the document on its standard input; no shell reads the command or the document."""

    def __init__(self, command: str, seconds: float = COMMAND_SECONDS) -> None:
        """
        Args:
            command: a program and its arguments, split as by a shell.
            seconds: that it may take.

        Raises BadInput when there is no such program.
        """
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise BadInput(f"cannot read the command {command!r:.80} ({error}): close its quotes") from error
        if not self._words or shutil.which(self._words[0]) is None:
            program = self._words[0] if self._words else ""
            raise BadInput(
                f"there is no program {program!r:.80} to notify with: give --notify-command a program and its "
                "arguments; a pipe or a variable needs a script"
            )
        self.where = self._words[0]
        self._seconds = seconds
        self._lock, self._given_up = threading.Lock(), False
        self._process: subprocess.Popen[bytes] | None = None

    def notify(self, document: bytes) -> None:
        """Deliver a JSON document; raises NotDelivered."""
        try:
            # Files, not pipes: what the command starts may keep them open, and its output may be huge.
            with tempfile.TemporaryFile() as question, tempfile.TemporaryFile() as complaint:
                question.write(document)
                question.seek(0)
                code = self._run(question, complaint)
                complaint.seek(0)
                words = complaint.read(4 * MAX_COMPLAINT).decode(errors="replace").strip()[:MAX_COMPLAINT]
        except OSError as error:
            raise NotDelivered(f"it cannot be started ({error.strerror or error})") from error
        if code:
            raise NotDelivered(f"it ended with exit code {code}{': ' if words else ''}{words}")

    def _run(self, question: IO[bytes], complaint: IO[bytes]) -> int:
        with self._lock:
            if self._given_up:
                raise NotDelivered("this program ends")
            process = self._process = subprocess.Popen(
                self._words, stdin=question, stdout=subprocess.DEVNULL, stderr=complaint, start_new_session=True
            )
        try:
            code = process.wait(self._seconds)
        except subprocess.TimeoutExpired as error:
            _kill(process)
            raise NotDelivered(f"it was killed after {duration(self._seconds)}") from error
        if code and self._given_up:
            raise NotDelivered("it was killed, because this program ends")
        return code

    def give_up(self) -> None:
        """End what another thread delivers, which is not delivered then."""
        with self._lock:
            self._given_up = True
            if self._process is not None and self._process.poll() is None:
                _kill(self._process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
