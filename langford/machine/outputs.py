"""What an output may replace: nothing but what this program wrote for the same purpose.

Each output has a form, by which an earlier one is recognized: how it begins, or a mark in its metadata.  Every
other file stays, and so do folders.  An empty file is replaced, and a device or a pipe is written to.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from langford.errors import LangfordError

SHOWN = 2**16
"""Bytes at the beginning of a file, and at its end, by which it is recognized."""


class NotReplaceable(LangfordError):
    """An output would replace, or delete, what this program did not write for this purpose."""


@dataclass(frozen=True)
class OutputForm:
    """Attributes:
    name: of what is written, in words.
    pattern: how each such file begins, decompressed if it is compressed by gzip; or all of a short one.
    """

    name: str
    pattern: bytes

    def fits(self, file: Path) -> bool:
        """Whether a file is of this form, or empty; raises OSError."""
        return not file.stat().st_size or re.match(self.pattern, _shown(file), re.DOTALL) is not None


READY = OutputForm("a file of --ready-file", rb"https?://\S+\n\Z")
"""The address of a server."""


def mark(command: str) -> str:
    """What the metadata of a picture or a page say of its origin."""
    return f"made by langford-{command}"


def marked(name: str, command: str) -> OutputForm:
    """The form of files with this mark."""
    return OutputForm(name, rb".*" + re.escape(mark(command).encode()))


def headed(name: str, heading: bytes) -> OutputForm:
    """The form of files that begin with this line, or were cut within it."""
    cut = (re.escape(heading[:length]) + rb"\Z" for length in range(1, len(heading)))
    return OutputForm(name, b"|".join([re.escape(heading), *cut]))


def require_replaceable(file: Path, form: OutputForm) -> None:
    """Raises NotReplaceable for a file of another form, also behind a link, and OSError where no file can be.

    Commands call it before their work, which would be lost if the output were refused at the end.
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
    if not form.fits(file):
        raise NotReplaceable(
            f"{file} exists and is not {form.name} of this program: give another name for the output"
        )


def remove_output(file: Path, form: OutputForm) -> None:
    """Delete an earlier output, if there is one; a device, a pipe or a socket stays.

    Raises as :func:`require_replaceable`.
    """
    require_replaceable(file, form)
    with suppress(FileNotFoundError):
        if stat.S_ISREG(file.lstat().st_mode):
            file.unlink()


def is_a_device_or_a_pipe(file: Path) -> bool:
    """Whether the path exists and is neither a file nor a folder."""
    return file.exists() and not (file.is_file() or file.is_dir())


def _shown(file: Path) -> bytes:
    with file.open("rb") as stream:
        beginning = stream.read(SHOWN)
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(len(beginning), size - SHOWN))
        end = stream.read(SHOWN)
    with suppress(zlib.error):
        return zlib.decompressobj(wbits=16 + zlib.MAX_WBITS).decompress(beginning, SHOWN)
    return beginning + end
