"""Files that others may have put there, or named: read only as far as what is expected of them."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO

from langford.errors import LangfordError

LOOKING = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags that open whatever stands there at once, or not at all: no pipe waits for its other end."""


class NotRegular(LangfordError):
    """A link, a pipe, a device or a folder where a file is expected."""


class TooLarge(LangfordError):
    """A file is larger than what is expected of it."""


def content(file: Path, most: int) -> bytes:
    """The content of a file that a user names, also of a pipe or a device.

    Raises TooLarge beyond ``most`` bytes, or OSError.
    """
    with file.open("rb") as stream:
        return _at_most(stream, file, most)


def regular_content(file: Path, most: int) -> bytes:
    """The content of a regular file, which is no link; waits for nothing.

    Raises NotRegular, TooLarge beyond ``most`` bytes, or OSError.
    """
    with os.fdopen(_opened(file, os.O_RDONLY), "rb") as stream:
        if os.fstat(stream.fileno()).st_size > most:
            raise TooLarge(f"{file} has more than {most:,} bytes")
        return _at_most(stream, file, most)


def lock_file(file: Path) -> IO[bytes]:
    """A regular file to be locked, made if it is not there; waits for nothing.  Raises NotRegular or OSError."""
    return os.fdopen(_opened(file, os.O_RDWR | os.O_CREAT), "r+b")


def _opened(file: Path, flags: int) -> int:
    """Raises NotRegular or OSError."""
    try:
        descriptor = os.open(file, flags | LOOKING, 0o666)
    except OSError as error:
        # A link, a folder, a socket or a device without a driver.
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ENODEV):
            raise NotRegular(f"{file} is no regular file") from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegular(f"{file} is no regular file")
    return descriptor


def _at_most(stream: IO[bytes], file: Path, most: int) -> bytes:
    read = stream.read(most + 1)
    if len(read) > most:
        raise TooLarge(f"{file} has more than {most:,} bytes")
    return read
