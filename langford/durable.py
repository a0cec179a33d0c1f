"""Files that are either whole or not there: a crash, a full disk or a blackout leaves no half of one."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path


def replace_file(file: Path, content: bytes, private: bool = False) -> None:
    """Write a file at once: it is on disk, under its name, when this returns.

    A file of that name is replaced; when anything goes wrong it stays as it was.  A link stays, and the file to
    which it leads is replaced.  What is no file, like /dev/stdout or a pipe, is written to.  Raises OSError.

    ``private``: nobody but its owner may read the file, at no time; a link is replaced, which others may have made.
    """
    if file.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    if _is_a_device_or_a_pipe(file):
        file.write_bytes(content)
        return
    named, file = file, file if private else Path(os.path.realpath(file))
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with open(unfinished, "wb", opener=_private if private else None) as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(file)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink()
        error.filename, error.filename2 = str(named), None
        raise
    # The name is on disk when the folder is.
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _is_a_device_or_a_pipe(file: Path) -> bool:
    """Whether there is something, and no file or folder."""
    return file.exists() and not (file.is_file() or file.is_dir())


def _private(name: str, flags: int) -> int:
    """Open a new file that only its owner may read."""
    return os.open(name, flags | os.O_EXCL, 0o600)
