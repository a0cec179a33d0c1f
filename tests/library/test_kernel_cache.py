"""Which folder compiled kernels are kept in, where another user has been there before."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import langford
from langford.kernels import cache
from langford.kernels.cache import CHOSEN, NoCacheFolder, cache_folder
from langford.machine.process import COMPILING
from langford.methods import METHODS
from langford.problem import Problem
from langford.provenance import kernel_hash
from tests.support.command_line import ENVIRONMENT

STRANGER = 12345
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who alone can be several users")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that XDG_CACHE_HOME names."""
    made = tmp_path / "home"
    made.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_CACHE_HOME", str(made))
    monkeypatch.setenv(CHOSEN, "")
    return made


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> Path:
    """The folder for temporary files, where anybody can make some."""
    made = tmp_path / "temporary"
    made.mkdir()
    made.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(made))
    monkeypatch.setattr(cache, "SHARED_FOLDERS", ())
    return made


def usual(temporary: Path) -> Path:
    """This user's folder among the temporary files."""
    return temporary / f"langford-{os.geteuid()}-{kernel_hash()}"


def test_the_folder_is_for_its_user_alone(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = cache_folder()
    assert folder.parent == home / "langford"
    folder.chmod(0o755)
    assert cache_folder() == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (capfd.readouterr().err, os.environ[CHOSEN]) == ("", "")


@pytest.mark.parametrize("variable", ["", "cache", "/dev/null/cache"])
def test_without_a_home_the_folder_is_among_the_temporary_files(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], variable: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", variable)
    monkeypatch.setenv("HOME", "/dev/null")
    for _ in range(2):
        assert cache_folder() == usual(temporary)
    assert stat.S_IMODE(usual(temporary).stat().st_mode) == 0o700
    assert capfd.readouterr().err == ""


def test_an_open_folder_is_refused_with_one_line(
    home: Path, temporary: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    open_one = cache_folder()
    open_one.chmod(0o777)
    for _ in range(3):
        assert cache_folder() == usual(temporary) == Path(os.environ[CHOSEN])
    assert capfd.readouterr().err == (
        f"langford: {open_one} is not used for compiled code: other users can write to it, and may have done "
        "so: delete "
        "it; change that, or name another folder with XDG_CACHE_HOME\n"
    )


@as_root
@pytest.mark.parametrize("planted", ["folder", "link", "link to a folder of ours"])
def test_where_others_were_before_a_new_folder_is_made(
    home: Path, temporary: Path, capfd: pytest.CaptureFixture[str], planted: str
) -> None:
    home.chmod(0o777)
    place = usual(temporary)
    if planted == "folder":
        place.mkdir(mode=0o700)
    else:
        (temporary / "theirs").mkdir(mode=0o777)
        place.symlink_to(home if planted == "link to a folder of ours" else temporary / "theirs")
    os.chown(place, STRANGER, STRANGER, follow_symlinks=False)
    folder = cache_folder()
    assert folder.parent == temporary
    assert folder != place
    assert (folder.stat().st_uid, stat.S_IMODE(folder.stat().st_mode)) == (os.geteuid(), 0o700)
    assert cache_folder() == folder
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert f"{place} is not used for compiled code: it belongs to user {STRANGER}; change" in said


def test_a_link_of_ones_own_is_no_folder(home: Path, temporary: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = cache_folder()
    folder.rmdir()
    (home / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(home / "elsewhere")
    assert cache_folder() == usual(temporary)
    assert f"{folder} is not used for compiled code: it is a link: delete it" in capfd.readouterr().err


def test_where_every_folder_is_open_there_is_an_error(home: Path, temporary: Path) -> None:
    home.chmod(0o777)
    temporary.chmod(0o777)
    with pytest.raises(NoCacheFolder, match="name one with XDG_CACHE_HOME") as refused:
        cache_folder()
    for folder in (home, temporary):
        assert f"other users can write to {folder}: chmod" in str(refused.value)
    assert os.listdir(temporary) == []


CHILD = "from langford.kernels.cache import cache_folder; print(cache_folder())"
PARENT = f"""
import os, subprocess, sys
{CHILD}
sys.stdout.flush()
subprocess.run([sys.executable, "-c", "{CHILD}"], check=True)
if os.fork() == 0:
    sys.exit()
os.wait()
print(cache_folder().exists())
"""


@as_root
def test_a_new_folder_serves_the_processes_below_and_ends_with_the_first(home: Path, temporary: Path) -> None:
    home.chmod(0o777)
    usual(temporary).mkdir()
    os.chown(usual(temporary), STRANGER, STRANGER)
    environment = {**ENVIRONMENT, "XDG_CACHE_HOME": str(home), "TMPDIR": str(temporary), CHOSEN: ""}
    done = subprocess.run(
        [sys.executable, "-c", PARENT], env=environment, capture_output=True, text=True, check=True
    )
    first, second, there = done.stdout.split()
    assert first == second
    assert Path(first).parent == temporary
    assert there == "True"
    assert done.stderr.count("\n") == 1
    assert os.listdir(temporary) == [usual(temporary).name]


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: langford.estimate(8, walks=2), "of random walks"),
        (lambda: METHODS["miller"].plan(Problem.langford(8), 2).evaluator(), "of miller"),
        (lambda: METHODS["polyphase"].plan(Problem.langford(8), 4).evaluator(), "of polyphase"),
    ],
)
def test_who_compiles_says_what(
    home: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[[], object], what: str
) -> None:
    """The folder is new, but numba finds what it has compiled before."""
    said: list[str | None] = []
    monkeypatch.setattr(COMPILING, "_listener", said.append)
    call()
    first = list(filter(None, said))
    call()
    assert {*first} == {what}
    assert list(filter(None, said)) == first
