"""Folders of the user: where they are, and who else can put files there.

Compiled code is loaded and run, and results travel under the user's token: both must come from folders that only
the user and root can change.  A folder is *private* when

- it and all folders above it belong to the user, or to root, and so do the links on the way to it;
- nobody else may write to it;
- nobody else may write to a folder above it either, unless that one has the sticky bit, as ``/tmp`` has: there only
  the owner of an entry renames or deletes it.

Then nobody else can replace a part of the path, before this is asked or afterwards.
"""

from __future__ import annotations

import errno
import grp
import os
import pwd
import stat
from collections import deque
from contextlib import suppress
from pathlib import Path

from langford.errors import LangfordError

MAX_LINKS = 40
"""Links on the way to a folder, at most: what Linux follows."""


class NoHome(LangfordError):
    """The environment names no folder of this user."""


def base_folder(variable: str, below_home: str) -> Path:
    """A base folder of the XDG specification, which may not exist yet.

    Args:
        variable: the environment variable that names it; a relative path in it is ignored, as the specification
            demands.
        below_home: where it is in the home folder otherwise.

    Raises NoHome for a user without a home folder.
    """
    named = os.environ.get(variable, "")
    if os.path.isabs(named):
        return Path(named)
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        raise NoHome(f"this user has no home folder: set {variable} to the absolute path of a folder")
    return Path(home, below_home)


def objection(folder: Path, create: bool = False, remedy: str = "delete it") -> str | None:
    """Why a folder is not private, and what to do about it, in words; None: it is.

    Args:
        folder: what does not exist of it is no objection, unless anybody may make it.
        create: make what does not exist of it, for this user alone (mode 0700).
        remedy: what to do about a folder that may hold what others have put there.

    Raises OSError where there is no folder, or the system refuses to look at it or to make it.
    """
    user, system = os.geteuid(), os.lstat("/").st_uid
    place, is_shared, links = "/", False, 0
    left = deque(folder.absolute().parts)
    while left:
        part = os.path.join(place, left.popleft())
        try:
            status = os.lstat(part)
        except FileNotFoundError:
            if not create:
                return f"any user could create {part}: create it yourself, with mode 700" if is_shared else None
            with suppress(FileExistsError):  # somebody was faster: who, is seen now
                os.mkdir(part, 0o700)
            status = os.lstat(part)
        # In a container root may have no number, like many others: it is known by what it owns, and no user can
        # have put into a folder of root's.
        named = "it" if part == str(folder) else part
        if status.st_uid not in ({0, user} if is_shared else {0, user, system}):
            return f"{named} belongs to {_name_of(status.st_uid)}"
        if stat.S_ISLNK(status.st_mode):
            links += 1
            if links > MAX_LINKS:
                return f"too many symbolic links lead to {folder}"
            left.extendleft(reversed(Path(os.readlink(part)).parts))
            continue
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), part)
        is_open = _is_open(status)
        if is_open and not left:
            return f"other users can write to {named}, and may have done so: {remedy}"
        if is_open and not status.st_mode & stat.S_ISVTX:
            is_for_all = status.st_uid != user and status.st_mode & stat.S_IWOTH  # and stays so, like /tmp
            return f"other users can write to {part}: chmod {'+t' if is_for_all else 'go-w'} {part}"
        place, is_shared = part, is_open
    return None


def others_can_read(file: Path) -> bool:
    """Whether others than its owner can read a secret; raises OSError.

    A group may read what belongs to somebody else than this user: some systems have a group for the keys of
    servers, and a cluster mounts its secrets so.
    """
    status = file.stat()
    group = stat.S_IRWXG if status.st_uid == os.geteuid() else 0
    return bool(status.st_mode & (stat.S_IRWXO | group))


def _is_open(status: os.stat_result) -> bool:
    """Whether anybody but the owner of a folder may write to it."""
    by_group = status.st_mode & stat.S_IWGRP and not _has_group_alone(status)
    return bool(status.st_mode & stat.S_IWOTH or by_group)


def _has_group_alone(status: os.stat_result) -> bool:
    """Whether the group of a folder is its owner's own one, without another member.

    Many systems give every user such a group, of the same name, and let it write to what the user makes.
    """
    try:
        owner, group = pwd.getpwuid(status.st_uid), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    is_own = (owner.pw_gid, owner.pw_name) == (group.gr_gid, group.gr_name)
    return is_own and {*group.gr_mem} <= {owner.pw_name}


def _name_of(user: int) -> str:
    try:
        return f"user {pwd.getpwuid(user).pw_name}"
    except KeyError:
        return f"user {user}"


def takes_no_file(folder: Path) -> str | None:
    """In words, why a file system has room for no further file, although space is free; None: it has."""
    with suppress(OSError):
        found = os.statvfs(folder)
        if found.f_files and not found.f_favail:
            return "no room for another file: its file system has no free inode (`df -i`)"
    return None
