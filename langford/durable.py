"""Files that are either whole or not there: a crash, a full disk or a blackout leaves no half of one."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def replace_file(file: Path, content: bytes) -> None:
    """Write a file at once: it is on disk, under its name, when this returns.

    A file of that name is replaced; when anything goes wrong it stays as it was.  Raises OSError.
    """
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(file)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink()
        error.filename, error.filename2 = str(file), None
        raise
    # The name is on disk when the folder is.
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
