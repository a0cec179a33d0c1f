"""A worker's durable outbox: results wait here until the server has them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from db import Delivery
from jobs.farm import wire
from langford.durable import replace_file

SUFFIX = ".result.json"


class Outbox:
    """A folder with one file per result; several workers may share it.

    Attributes:
        folder: made if it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, delivery: Delivery) -> None:
        """Keep a delivery: it is on disk when this returns.  Raises OSError."""
        replace_file(self._file(delivery), json.dumps(wire.delivery_document(delivery)).encode())

    def waiting(self) -> Iterator[Delivery]:
        """All deliveries in the folder.  A file that cannot be read is renamed, so that it is not read again."""
        for file in sorted(self.folder.glob(f"*{SUFFIX}")):
            try:
                yield wire.delivery_of(json.loads(file.read_text()))
            except FileNotFoundError:
                continue  # another worker has sent it
            except (ValueError, wire.BadMessage):
                with suppress(OSError):
                    file.replace(file.with_suffix(".bad"))

    def remove(self, delivery: Delivery) -> None:
        """Delete a delivery that the server has."""
        with suppress(FileNotFoundError):
            self._file(delivery).unlink()

    def _file(self, delivery: Delivery) -> Path:
        return self.folder / f"{delivery.attempt}{SUFFIX}"
