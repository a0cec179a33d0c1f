"""The files of an outbox that no server takes: set apart with the reason, so that none is sent again or lost."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

FOLDER = "quarantine"


class Quarantine:
    """A folder with one file per refused result, and beside each a text with the reason.

    Attributes:
        folder: ROOT/quarantine; made when the first file comes.
    """

    def __init__(self, root: Path, say: Callable[[str], None]) -> None:
        """
        Args:
            root: of the outboxes of this machine.
            say: called once for each file.
        """
        self.folder = root / FOLDER
        self._say = say
        self._stuck: set[Path] = set()

    def take(self, file: Path, reason: str) -> None:
        """Move a file here.  One that cannot be moved stays where it is; :meth:`has` knows it from now on."""
        # Numbers of attempts repeat among campaigns: the random part keeps their files apart.
        place = self.folder / f"{secrets.token_hex(4)}-{file.name}"
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            with suppress(OSError):  # a full disk takes the name of a file where it does not take its content
                place.with_name(f"{place.name}.reason").write_text(f"{file}: {reason}\n")
            file.replace(place)
        except FileNotFoundError:
            place.with_name(f"{place.name}.reason").unlink(missing_ok=True)  # another worker was faster
        except OSError as error:
            self._stuck.add(file)
            self._say(f"{file} is not sent ({reason}) and cannot be moved ({error.strerror}): delete it")
        else:
            self._say(f"{file.name} is not sent: {reason}; it is now {place}")

    def has(self, file: Path) -> bool:
        """Whether a file should be here, but could not be moved."""
        return file in self._stuck
