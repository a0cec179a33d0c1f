"""The files of an outbox: each names the campaign of its result; those that no server accepts are kept apart."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from db import Delivery
from db.messages import BadMessage, Text, converted, decoded, document
from db.records import Address, CampaignInfo
from jobs.console import Console
from langford.words import several

FOLDER = "quarantine"
MAX_NAME = 200
"""Bytes of a name that are kept: file systems allow 255, and a number and ".reason" are added."""


class Origin(Address, frozen=True):
    """Where a result belongs, and the hash of the code that computed it."""

    kernels: Text


def sealed(info: CampaignInfo, kernels: str, delivery: Delivery) -> bytes:
    """The content of a file with a delivery for a campaign; ``kernels``: hash of the code that computed it."""
    origin = Origin(**info.address, kernels=kernels)
    return json.dumps({**document(origin), **document(delivery)}).encode()


def opened(content: bytes, info: CampaignInfo) -> Delivery:
    """Raises BadMessage, also when the delivery is not for this campaign."""
    try:
        fields = decoded(content, dict[str, Any])
    except BadMessage as error:
        raise BadMessage(f"it is not a result, or is truncated ({error})") from error
    names = Origin.__struct_fields__
    try:
        origin = converted({name: fields.pop(name) for name in names if name in fields}, Origin)
    except BadMessage as error:
        raise BadMessage(f"it does not name its campaign ({error})") from error
    for name, expected in info.address.items():
        # The UUID identifies a campaign; its name may have been changed meanwhile.
        if getattr(origin, name) != expected and name != "name":
            raise BadMessage(f"its {name} is not that of the campaign {info.name} here")
    delivery = converted(fields, Delivery)
    if delivery.index >= info.tasks:
        raise BadMessage(f"the campaign has only {several(info.tasks, 'task')}")
    return delivery


class Quarantine:
    """A folder of refused results, each beside a text file with the reason.

    The files may be of any kind and name; none is opened, and no link is followed.

    Attributes:
        folder: ROOT/quarantine; made for the first file.
    """

    def __init__(self, root: Path, console: Console) -> None:
        self.folder = root / FOLDER
        self._console = console
        self._skipped: set[Path] = set()

    def take(self, file: Path, reason: str) -> None:
        """Move a file here.  One that cannot be moved is left where it is, see :meth:`skip`."""
        # Several campaigns have attempts of the same number: the random part distinguishes their files.
        name = os.fsdecode(os.fsencode(file.name)[-MAX_NAME:])
        place = self.folder / f"{secrets.token_hex(4)}-{name}"
        beside = place.with_name(f"{place.name}.reason")
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            with suppress(OSError):  # a full disk may have room for the name of a file, but not for its content
                beside.write_text(f"{file}: {reason}\n", "utf-8", "backslashreplace")
            file.replace(place)
        except FileNotFoundError:
            with suppress(OSError):
                beside.unlink()  # another worker was faster
        except OSError as error:
            with suppress(OSError):
                beside.unlink()
            self.skip(file, f"is not sent ({reason}) and cannot be moved ({error.strerror})")
        else:
            self._console.say(f"{file.name} is not sent: {reason}; it is now {place}")

    def skip(self, file: Path, why: str, remedy: str = "delete it") -> None:
        """Leave a file where it is that cannot be read, moved or deleted; from now on :meth:`skips` is true."""
        if file not in self._skipped:
            self._console.say(f"{file} {why}: {remedy}")
        self._skipped.add(file)

    def skips(self, file: Path) -> bool:
        """Whether a file stays where it is, and is not to be sent."""
        return file in self._skipped
