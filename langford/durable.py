"""Files that are either whole or not there: a crash, a full disk or a blackout leaves no half of one."""

from __future__ import annotations

import errno
import os
import re
from contextlib import suppress
from pathlib import Path

from langford.errors import LangfordError

LASTING = {
    "a database": rb"SQLite format 3\0",
    "the log of a database": rb"\x37\x7f\x06[\x82\x83]",
    "a private key": rb"\s*-----BEGIN [A-Z0-9 ]*PRIVATE KEY",
}
"""What no output replaces, and how its file begins."""
BEGINNING = 128
"""Bytes of a file that are enough to know it."""


class NotReplaceable(LangfordError):
    """An output would replace a file that nobody could make again."""


def replace_file(file: Path, content: bytes, private: bool = False) -> None:
    """Write a file at once: it is on disk, under its name, when this returns.

    A file of that name is replaced; when anything goes wrong it stays as it was.  A link stays, and the file to
    which it leads is replaced.  What is no file, like /dev/stdout or a pipe, is written to.  Raises NotReplaceable
    or OSError.

    ``private``: nobody but its owner may read the file, at no time; a link is replaced, which others may have made.
    """
    require_replaceable(file)
    if is_a_device_or_a_pipe(file):
        file.write_bytes(content)
        return
    named, file = file, file if private else Path(os.path.realpath(file))
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with suppress(FileNotFoundError):
            unfinished.unlink()  # of a process that crashed; or somebody's link to a file that we would write to
        with open(unfinished, "wb", opener=_private if private else _new) as stream:
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


def require_replaceable(file: Path) -> None:
    """Raises NotReplaceable for a database or a private key, also behind a link, and OSError where no file can be.

    For commands whose work would be lost, or half done, if they asked only when they write.
    """
    if not file.is_absolute():
        Path.cwd()  # raises where the working folder was deleted, which still answers as a folder
    if file.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    if not file.is_file():
        if not file.parent.is_dir():
            code = errno.ENOTDIR if file.parent.exists() else errno.ENOENT
            raise OSError(code, os.strerror(code), str(file))
        return
    with file.open("rb") as stream:
        beginning = stream.read(BEGINNING)
    for kind, pattern in LASTING.items():
        if re.match(pattern, beginning):
            raise NotReplaceable(f"{file} is {kind}: give another name for the output")


def is_a_device_or_a_pipe(file: Path) -> bool:
    """Whether there is something, and no file or folder."""
    return file.exists() and not (file.is_file() or file.is_dir())


def _new(name: str, flags: int) -> int:
    """Open a new file."""
    return os.open(name, flags | os.O_EXCL, 0o666)


def _private(name: str, flags: int) -> int:
    """Open a new file that only its owner may read."""
    return os.open(name, flags | os.O_EXCL, 0o600)
