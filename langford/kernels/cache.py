"""Where compiled kernels are kept: per host and per source, where no other user can put code.

Compiled code of another machine or of another version of the kernels is never loaded, nor code from a folder that
is not private (machine/folders.py), and nothing is written to a shared home or next to an installed package.
"""

from __future__ import annotations

import atexit
import errno
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from langford.errors import LangfordError
from langford.machine.folders import NoHome, base_folder, objection
from langford.machine.kept import say_once
from langford.provenance import kernel_hash

CHOSEN = "LANGFORD_KERNEL_CACHE"
"""The variable that names the folder to the processes that this one starts, where a usual one was refused."""
SHARED_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")
"""Where anybody can make a folder on most systems, after the place for temporary files."""
NOWHERE = "/dev/null/none"
"""A folder in which nothing can be."""


class NoCacheFolder(LangfordError):
    """There is no folder where compiled code is safe from other users: none is kept."""


def cache_folder() -> Path:
    """The folder, made if need be: this user's alone, no link, and nobody else can put another one in its place.

    The usual one is below XDG_CACHE_HOME, or, where none can be written to there, among the temporary files.  A
    folder that is not private is refused, with one line on standard error; where none is left, a new one is made,
    and deleted when this process ends.  Processes that this one starts use the same.

    Raises NoCacheFolder.
    """
    chosen = os.environ.get(CHOSEN)
    if chosen:
        with suppress(OSError):
            if _reason_against(Path(chosen), create=False) is None:
                return Path(chosen)
    reasons, is_refused = [], False
    for folder in _usual_folders():
        try:
            reason = _reason_against(folder)
        except OSError as error:
            reasons.append(f"{folder} cannot be used ({error.strerror})")
            continue
        if reason is None:
            break
        reasons.append(refusal(folder, reason))
        is_refused = True
    else:
        folder, is_refused = _new_folder(reasons), True
    if is_refused:
        os.environ[CHOSEN] = str(folder)
        say_once(f"{'; '.join(reasons)}; {remedy('XDG_CACHE_HOME')}")
    return folder


def kept_in(name: str) -> Path | None:
    """The file of that name in the folder; None where nothing can be kept, which is said once."""
    try:
        return cache_folder() / name
    except NoCacheFolder as error:
        say_once(str(error))
        return None


def refuse_open_caches(usual: Mapping[str, str]) -> None:
    """Have libraries keep code below our folder where their own ones are not private, with one line about it.

    Processes that this one starts do the same.  Where no folder can be used, they keep none.

    Args:
        usual: the variables that name the folders of libraries, with where they are in the home folder otherwise.
    """
    reasons = {}
    for variable, below_home in usual.items():
        named, home = os.environ.get(variable), os.path.expanduser("~")
        folder = Path(named or os.path.join(home, below_home))
        try:
            reason = objection(folder, create=bool(named))
            is_usable = reason is None and (bool(named) or os.path.isabs(home))
        except OSError:
            reason, is_usable = None, False  # the library could not use it
        if not is_usable:
            ours = kept_in(variable.lower())
            with suppress(OSError):  # it cannot be used either
                if ours is not None:
                    ours.mkdir(exist_ok=True)
            os.environ[variable] = str(ours or NOWHERE)
        if reason is not None:
            reasons[variable] = refusal(folder, reason)
    if reasons:
        say_once(f"{'; '.join(reasons.values())}; {remedy(*reasons)}")


def refusal(folder: Path, reason: str) -> str:
    """What is said of a folder, with the reason."""
    return f"{folder} is not used for compiled code: {reason}"


def remedy(*variables: str) -> str:
    """What is said to do about it; ``variables``: they name other folders."""
    return f"change that, or name another folder with {', '.join(variables)}"


def _usual_folders() -> Iterator[Path]:
    """Where the folder may be that all processes of this user, host and version share, the best place first."""
    with suppress(NoHome):
        yield base_folder("XDG_CACHE_HOME", ".cache") / "langford" / f"{platform.node()}-{kernel_hash()}"
    yield from (place / f"langford-{os.geteuid()}-{kernel_hash()}" for place in _temporary_places()[:1])


def _temporary_places() -> list[Path]:
    places = list(SHARED_FOLDERS)
    with suppress(FileNotFoundError):  # no place takes a file
        places.insert(0, tempfile.gettempdir())
    return [Path(place) for place in dict.fromkeys(places)]


def _new_folder(reasons: list[str]) -> Path:
    """A new folder, which is deleted when this process ends; raises NoCacheFolder.

    ``reasons``: against the other ones.
    """
    for place in _temporary_places():
        with suppress(OSError):
            folder = Path(tempfile.mkdtemp(prefix="langford-", dir=place))
            if (reason := _reason_against(folder)) is None:
                atexit.register(_delete, folder, os.getpid())
                return folder
            folder.rmdir()
            reasons.append(f"{place}: {reason}")
    raise NoCacheFolder(
        f"there is no safe folder for compiled kernels ({'; '.join(reasons)}): name one with XDG_CACHE_HOME"
    )


def _delete(folder: Path, owner: int) -> None:
    """Delete the folder when the process ends that has made it, and not when a fork of it does."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _reason_against(folder: Path, create: bool = True) -> str | None:
    """Why a folder must not hold our code, in words; None: it may, and no other user can look into it.

    Raises OSError where it cannot be made or written to.
    """
    reason = objection(folder, create)
    if reason is not None:
        return reason
    if folder.is_symlink():
        return "it is a link: delete it"
    status = folder.stat()
    if status.st_uid == os.geteuid() and status.st_mode & 0o077:
        folder.chmod(0o700)  # nobody else can put a link in its place
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    return None
