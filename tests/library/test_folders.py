"""Folders where only their user can put files: the rule, against what another user of the machine can really do."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from langford.machine.folders import NoHome, base_folder, objection

STRANGER = 12345
"""The number of a user and of a group without a name."""
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who alone can be several users")


@pytest.fixture
def top() -> Iterator[Path]:
    """A folder that other users can look into."""
    made = Path(tempfile.mkdtemp(dir="/tmp"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def made(folder: Path, mode: int, owner: int = -1, group: int = -1) -> Path:
    folder.mkdir()
    os.chown(folder, owner, group)
    folder.chmod(mode)
    return folder


PLANT = """
{ touch "$2/code" || { mv "$2" "$2.away" && mkdir "$2" && touch "$2/code"; } ||
  { mv "$1" "$1.away" && mkdir -p "$2" && touch "$2/code"; }; } 2>/dev/null
"""
"""What a stranger may try, to have a file ``code`` in a folder $2 below $1."""


@as_root
@pytest.mark.parametrize(
    ("above", "mode", "folder", "private"),
    [
        ((0o755, 0, 0), 0o700, 0, True),
        ((0o755, 0, 0), 0o755, 0, True),
        ((0o1777, 0, 0), 0o700, 0, True),
        ((0o1777, 0, 0), 0o755, 0, True),
        ((0o1777, 0, 0), 0o777, 0, False),
        ((0o1777, 0, 0), 0o1777, 0, False),
        ((0o1777, 0, 0), 0o755, STRANGER, False),
        ((0o777, 0, 0), 0o700, 0, False),
        ((0o775, 0, STRANGER), 0o700, 0, False),
        ((0o2770, 0, STRANGER), 0o700, 0, False),
        ((0o1775, 0, STRANGER), 0o700, 0, True),
        ((0o755, STRANGER, 0), 0o700, 0, False),
        ((0o1777, STRANGER, 0), 0o700, 0, False),
        ((0o755, 0, 0), 0o777, 0, False),
        ((0o755, 0, 0), 0o755, STRANGER, False),
    ],
)
def test_a_stranger_plants_code_where_a_folder_is_not_private_and_only_there(
    top: Path, above: tuple[int, int, int], mode: int, folder: int, private: bool
) -> None:
    over = made(top / "above", *above)
    place = made(over / "folder", mode, folder)
    assert (objection(place) is None) == private
    subprocess.run(
        ["sh", "-c", PLANT, "sh", over, place], user=STRANGER, group=STRANGER, extra_groups=[], check=False
    )
    assert (place / "code").exists() != private


@pytest.mark.parametrize(
    ("group", "members", "first_group", "alone"),
    [
        ("alice", [], 7, True),
        ("alice", ["alice"], 7, True),
        ("alice", ["alice", "bob"], 7, False),
        ("alice", [], 8, False),
        ("users", [], 7, False),
    ],
)
def test_a_group_of_one_user_alone_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str, members: list[str], first_group: int, alone: bool
) -> None:
    monkeypatch.setattr(pwd, "getpwuid", lambda user: SimpleNamespace(pw_name="alice", pw_gid=first_group))
    monkeypatch.setattr(grp, "getgrgid", lambda number: SimpleNamespace(gr_name=group, gr_mem=members, gr_gid=7))
    place = made(tmp_path / "folder", 0o775)
    assert (objection(place) is None) == alone


def test_the_objection_names_what_to_change(tmp_path: Path) -> None:
    open_one = made(tmp_path / "open", 0o777)
    made(open_one / "folder", 0o700)
    assert objection(open_one / "folder") == f"other users can write to {open_one}: chmod go-w {open_one}"
    assert objection(open_one) == "other users can write to it, and may have done so: delete it"
    assert objection(open_one, remedy="think") == "other users can write to it, and may have done so: think"


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o077])
def test_what_is_made_is_for_its_user_alone(tmp_path: Path, mask: int) -> None:
    shared = made(tmp_path / "shared", 0o1777)
    before = os.umask(mask)
    try:
        assert objection(shared / "a" / "b", create=True) is None
    finally:
        os.umask(before)
    for folder in (shared / "a", shared / "a" / "b"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert objection(shared / "a" / "b") is None


def test_what_is_missing_matters_where_anybody_may_make_it(tmp_path: Path) -> None:
    shared = made(tmp_path / "shared", 0o1777)
    assert objection(tmp_path / "a" / "b") is None
    assert not (tmp_path / "a").exists()
    assert (
        objection(shared / "a" / "b") == f"any user could create {shared / 'a'}: create it yourself, with mode 700"
    )


def test_nothing_is_made_where_others_may_exchange_it(tmp_path: Path) -> None:
    open_one = made(tmp_path / "open", 0o777)
    assert objection(open_one / "a", create=True) is not None
    assert os.listdir(open_one) == []


def test_links_of_ones_own_are_followed(tmp_path: Path) -> None:
    shared, open_one = made(tmp_path / "shared", 0o1777), made(tmp_path / "open", 0o777)
    home = made(tmp_path / "home", 0o700)
    (shared / "absolute").symlink_to(home)
    (shared / "relative").symlink_to("../home/../home")
    (shared / "elsewhere").symlink_to(open_one)
    (home / "up").symlink_to("../shared")
    assert objection(shared / "absolute" / "folder") is None
    assert objection(shared / "relative" / "folder") is None
    assert objection(shared / "relative" / ".." / "home") is None
    assert str(open_one) in str(objection(shared / "elsewhere" / "folder"))
    assert "any user could create" in str(objection(home / "up" / "folder"))
    (home / "round").symlink_to("round")
    assert "too many symbolic links" in str(objection(home / "round"))


@as_root
def test_a_link_of_another_user_is_not_followed(tmp_path: Path) -> None:
    shared, home = made(tmp_path / "shared", 0o1777), made(tmp_path / "home", 0o700)
    (shared / "link").symlink_to(home)
    os.chown(shared / "link", STRANGER, STRANGER, follow_symlinks=False)
    assert objection(shared / "link" / "folder") == f"{shared / 'link'} belongs to user {STRANGER}"
    assert objection(shared / "link", create=True) == f"it belongs to user {STRANGER}"


def test_a_relative_folder_is_looked_at_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made(tmp_path / "open", 0o777))
    assert "other users can write" in str(objection(Path("folder")))
    monkeypatch.chdir(made(tmp_path / "home", 0o700))
    assert objection(Path("folder")) is None


def test_what_is_no_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(NotADirectoryError):
            objection(path, create=True)


def test_root_without_a_number_is_trusted_but_where_anybody_makes_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In some containers root, and every other user of the machine, is shown as nobody."""
    shared = made(tmp_path / "shared", 0o1777)
    system, theirs = made(tmp_path / "system", 0o755), made(shared / "theirs", 0o755)
    lstat, nobody = os.lstat, {"/", str(shared), str(system), str(theirs)}

    def seen_inside(path: str | Path) -> os.stat_result:
        status = list(lstat(path))
        status[4] = 65534 if str(path) in nobody else 1000
        return os.stat_result(status)

    monkeypatch.setattr(os, "lstat", seen_inside)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert objection(made(shared / "ours", 0o700)) is None
    assert objection(made(system / "ours", 0o700)) is None
    assert objection(system) is None
    assert "it belongs to" in str(objection(theirs))


# -- where the folders of a user are ----------------------------------------------------------


def test_a_base_folder_is_that_of_its_variable_or_of_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/alice")
    monkeypatch.setenv("XDG_CACHE_HOME", "/scratch")
    assert base_folder("XDG_CACHE_HOME", ".cache") == Path("/scratch")
    for ignored in ("", "cache", "./cache", "~/cache"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert base_folder("XDG_CACHE_HOME", ".cache") == Path("/home/alice/.cache")


def test_a_user_without_a_home_has_no_base_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(user: int) -> None:
        raise KeyError(user)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    with pytest.raises(NoHome, match="set XDG_STATE_HOME to"):
        base_folder("XDG_STATE_HOME", ".local/state")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert base_folder("XDG_STATE_HOME", ".local/state") == Path("/state")
