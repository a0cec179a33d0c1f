"""The files of an outbox that no server takes: set apart with the reason, so that none is sent again or lost."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from jobs.run.console import Console

FOLDER = "quarantine"
LONGEST_NAME = 200
"""Bytes of a name that are kept here: file systems have 255, and a number and ".reason" are added."""


class Quarantine:
    """A folder with one file per refused result, and beside each a text with the reason.

    What comes here may be of any kind and name; nothing is opened or followed.

    Attributes:
        folder: ROOT/quarantine; made when the first file comes.
    """

    def __init__(self, root: Path, console: Console) -> None:
        """
        Args:
            root: of the outboxes of this machine.
            console: gets a remark about each file.
        """
        self.folder = root / FOLDER
        self._console = console
        self._left: set[Path] = set()

    def take(self, file: Path, reason: str) -> None:
        """Move a file here.  One that cannot be moved stays where it is; :meth:`has` knows it from now on."""
        # Numbers of attempts repeat among campaigns: the random part keeps their files apart.
        name = os.fsdecode(os.fsencode(file.name)[-LONGEST_NAME:])
        place = self.folder / f"{secrets.token_hex(4)}-{name}"
        beside = place.with_name(f"{place.name}.reason")
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            with suppress(OSError):  # a full disk takes the name of a file where it does not take its content
                beside.write_text(f"{file}: {reason}\n", "utf-8", "backslashreplace")
            file.replace(place)
        except FileNotFoundError:
            with suppress(OSError):
                beside.unlink()  # another worker was faster
        except OSError as error:
            with suppress(OSError):
                beside.unlink()
            self.leave(file, f"is not sent ({reason}) and cannot be moved ({error.strerror})")
        else:
            self._console.say(f"{file.name} is not sent: {reason}; it is now {place}")

    def leave(self, file: Path, why: str) -> None:
        """Let a file that cannot be moved or removed stay where it is; :meth:`has` knows it from now on."""
        if file not in self._left:
            self._console.say(f"{file} {why}: delete it")
        self._left.add(file)

    def has(self, file: Path) -> bool:
        """Whether a file is done with, but could not be moved."""
        return file in self._left
