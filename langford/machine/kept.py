"""What is kept for speed only: compiled code.

Such a file may be absent, damaged, or impossible to write, as after a power cut or with a full disk.  Then it is a
miss: its content is made again, and kept if possible.  It never decides whether the program runs.

A file begins with the SHA-256 of the rest, so that only what was written completely is used.  Some of it is run: a
file that another user owns, or could have changed, is not used.
"""

from __future__ import annotations

import fcntl
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from io import FileIO
from pathlib import Path

from langford.machine.durable import FileTooLarge, NotRegular, regular_content
from langford.words import plain

MOST = 2**30
"""Bytes of a file, at most."""
DIGEST_BYTES = 32
PROBE_BYTES = 2**17
"""What a folder must have room for, so that a library can keep its files there."""
USUAL = "XDG_CACHE_HOME"
"""The variable that names the folder of all caches, as the XDG specification has it."""
PATIENCE_SECONDS = 60.0
"""How long a process waits for another one, which may be stopped."""
_said: set[str] = set()
_waited_for: set[Path] = set()
"""Locks that this process does not wait for again."""


def read(file: Path) -> bytes | None:
    """What was written to a file; None where there is none, or not as it was written: that one is deleted."""
    try:
        whole, status = regular_content(file, MOST), file.lstat()
    except (FileNotFoundError, NotRegular):
        return None
    except (OSError, FileTooLarge) as error:
        _say_damaged(file, getattr(error, "strerror", None) or str(error))
        return None
    if status.st_uid not in (0, os.geteuid()) or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        _say_damaged(file, "other users can have changed it")
        return None
    content = whole[DIGEST_BYTES:]
    if whole[:DIGEST_BYTES] == sha256(content).digest():
        return content
    # Of several processes that find it, the one that deletes it reports it; if none can, all do.
    with suppress(FileNotFoundError):
        with suppress(PermissionError):
            file.unlink()
        _say_damaged(file, "it is damaged")
    return None


def write(file: Path, content: bytes) -> None:
    """Keep a content in a file, whole or not at all, in place of an earlier one; if not possible, say so once."""
    try:
        with _unfinished(file, content) as unfinished:
            os.replace(unfinished, file)
    except IsADirectoryError:
        say_once(f"{file} is a folder, but a cache file belongs there: delete it")
    except OSError as error:
        _say_unkept(file.parent, error, USUAL)


def can_keep(folder: Path, named_by: str) -> bool:
    """Whether a library can keep its files in a folder, which is made for it; if not, say so once."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _unfinished(folder / "probe", bytes(PROBE_BYTES)):
            return True
    except OSError as error:
        _say_unkept(folder, error, named_by)
        return False


@contextmanager
def _unfinished(file: Path, content: bytes) -> Iterator[str]:
    """A context with the path of a new file beside ``file``, which is deleted if it is still there; or OSError."""
    descriptor, unfinished = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(sha256(content).digest())
            stream.write(content)
        yield unfinished
    finally:
        with suppress(OSError):
            os.unlink(unfinished)


def _say_unkept(folder: Path, error: OSError, named_by: str) -> None:
    say_once(
        f"nothing can be kept in {folder} ({error.strerror}), so kernels are compiled at each start: "
        f"free some space there, or name another folder with {named_by}"
    )


def kept(file: Path | None, make: Callable[[], bytes]) -> bytes:
    """The content of a file, or made now and kept there; of several processes one makes it, and the others wait.

    ``file``: None where nothing can be kept.
    """
    if file is None:
        return make()
    content = read(file)
    if content is None:
        with locked(file.with_name(f"{file.name}.lock")):
            content = read(file)
            if content is None:
                content = make()
                write(file, content)
    return content


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold a lock on a file; it ends with the process.

    Where there are no locks (a full disk, a file system without them), the block runs at once.  Where another
    process keeps the lock for PATIENCE_SECONDS, it runs without the lock, and a line names that process.
    """
    with ExitStack() as held:
        with suppress(OSError):
            stream = held.enter_context(file.open("a+b", buffering=0))
            if _taken(stream, 0.0 if file in _waited_for else PATIENCE_SECONDS):
                stream.truncate(0)
                stream.write(b"%d" % os.getpid())
            else:
                _waited_for.add(file)
                stream.seek(0)
                holder = stream.read(20).decode("ascii", "replace")
                say_once(
                    f"process {holder} has kept {file} locked for {PATIENCE_SECONDS:.0f} s, so this one continues "
                    f"without the lock. If {holder} is stopped, resume it with `kill -CONT {holder}`"
                )
        yield


def _taken(stream: FileIO, patience: float) -> bool:
    """Whether this process got the lock; raises OSError where there are no locks."""
    deadline = time.monotonic() + patience
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.05)


def say_once(message: str) -> None:
    """Write a line on standard error, unless this process has done so before."""
    if message not in _said and sys.stderr is not None:
        _said.add(message)
        with suppress(OSError):
            print(f"langford: {plain(message)}", file=sys.stderr, flush=True)


def _say_damaged(file: Path, reason: str) -> None:
    say_once(f"a file in {file.parent} cannot be used ({reason}): its content is made again")
