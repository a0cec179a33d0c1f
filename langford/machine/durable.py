"""Files that are written completely or not at all, and files of others, read up to a size limit."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from socket import gethostname
from typing import IO

from langford.errors import LangfordError
from langford.machine.outputs import OutputForm, is_a_device_or_a_pipe, require_replaceable
from langford.machine.process import has_ended

LOOKING = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags that open whatever is there at once, or not at all: no pipe waits for its other end."""


def replace_file(
    file: Path, content: bytes, form: OutputForm, private: bool = False, named_once: bool = False
) -> None:
    """Write a file atomically: it is on disk, under its name, when this returns.

    An earlier file of this form is replaced; after an error it is unchanged.  A symbolic link is kept, and the file
    that it leads to is replaced.  A device or a pipe, like /dev/stdout, is written to.  Raises NotReplaceable or
    OSError.

    ``private``: only the owner can read the file, from its creation on; a symbolic link is replaced, since another
    user may have made it.  ``named_once``: no other process writes a file of this name, so the folder, which may be
    large, is not searched for what a killed one left.
    """
    require_replaceable(file, form)
    if is_a_device_or_a_pipe(file):
        file.write_bytes(content)
        return
    named, file = file, file if private else Path(os.path.realpath(file))
    unfinished = unfinished_beside(file, named_once)
    try:
        with open(unfinished, "xb", opener=partial(os.open, mode=0o600 if private else 0o666)) as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(file)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink()
        error.filename, error.filename2 = str(named), None
        raise
    sync_folder(file.parent)


def unfinished_beside(file: Path, named_once: bool = False) -> Path:
    """Where this thread writes a file that gets its name later; ``named_once``: see :func:`replace_file`.

    Files of this kind that processes of this host left when they were killed are deleted, with what SQLite keeps
    beside them, and so are links that another user made in their place.
    """
    start, ours = f".{file.name}.{gethostname()}.", f"{os.getpid()}.{threading.get_native_id()}"
    # Threads of one process may replace a file at the same time.  Whether another process has ended is asked by its
    # own number: only Linux answers for that of a thread.
    unfinished = file.with_name(f"{start}{ours}")
    with suppress(OSError):
        unfinished.unlink()  # an earlier process had the same numbers
    if named_once:
        return unfinished
    pattern = re.compile(re.escape(start) + r"((\d{1,9})(\.\d+)?)(-wal|-shm)?")
    with suppress(OSError):
        for entry in list(file.parent.iterdir()):
            found = pattern.fullmatch(entry.name)
            if found and (found[1] == ours or has_ended(int(found[2]))):
                with suppress(OSError):  # it belongs to another user
                    entry.unlink()
    return unfinished


def take_name(file: Path) -> None:
    """Make an empty file that only its owner can read; raises FileExistsError where there is one, or OSError."""
    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def sync_folder(folder: Path) -> None:
    """Write a folder to disk, and with it the names of its files; raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class NotRegular(LangfordError):
    """A link, a pipe, a device or a folder where a file is expected."""


class FileTooLarge(LangfordError):
    """A file is larger than what is expected of it."""


def content(file: Path, most: int) -> bytes:
    """The content of a file that a user names, also of a pipe or a device.

    Raises FileTooLarge beyond ``most`` bytes, or OSError.
    """
    with file.open("rb") as stream:
        return _at_most(stream, file, most)


def regular_content(file: Path, most: int) -> bytes:
    """The content of a regular file, which is no link; waits for nothing.

    Raises NotRegular, FileTooLarge beyond ``most`` bytes, or OSError.
    """
    with os.fdopen(_opened(file, os.O_RDONLY), "rb") as stream:
        return _at_most(stream, file, most)


def lock_file(file: Path) -> IO[bytes]:
    """A regular file, made if it is not there, which this process has locked until it closes it or ends.

    Waits for nothing.  Raises BlockingIOError where another process has the lock, NotRegular or OSError.
    """
    opened = os.fdopen(_opened(file, os.O_RDWR | os.O_CREAT), "r+b")
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        opened.close()
        raise
    return opened


def _opened(file: Path, flags: int) -> int:
    """Raises NotRegular or OSError."""
    try:
        descriptor = os.open(file, flags | LOOKING, 0o666)
    except OSError as error:
        # A link, a folder, a socket or a device without a driver.
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ENODEV):
            raise NotRegular(f"{file} is not a regular file") from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegular(f"{file} is not a regular file")
    return descriptor


def _at_most(stream: IO[bytes], file: Path, most: int) -> bytes:
    read = stream.read(most + 1)
    if len(read) > most:
        raise FileTooLarge(f"{file} has more than {most:,} bytes")
    return read
