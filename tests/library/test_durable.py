"""Files that are written as a whole, and names under which there is something other than a file."""

from __future__ import annotations

import gzip
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from socket import gethostname

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.tuning.session import FIGURE
from jobs.verify.exchange import RESULTS
from jobs.verify.signatures import SIGNATURE
from jobs.verify.statement import FORM as STATEMENT
from langford.cli.farm.create import TOKEN
from langford.machine.durable import replace_file
from langford.machine.outputs import READY, NotReplaceable, OutputForm, remove_output, require_replaceable

CONTENT = b"all of it\n" * 10_000
FORM = OutputForm("a test", b"all|new|before|a line|secret")
FORMS = [READY, FIGURE, TOKEN, RESULTS, SIGNATURE, STATEMENT]


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    made = tmp_path / "pipe"
    os.mkfifo(made)
    return made


def test_a_pipe_is_written_to_and_stays(pipe: Path) -> None:
    read = list[bytes]()
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    replace_file(pipe, CONTENT, FORM)
    reader.join(20)
    assert read == [CONTENT]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(pipe.parent) == [pipe.name]


def test_a_device_is_written_to_and_stays() -> None:
    ours, theirs = os.openpty()
    device = Path(os.ttyname(theirs))
    replace_file(device, b"a line\n", FORM)
    assert os.read(ours, 100).splitlines() == [b"a line"]
    assert stat.S_ISCHR(device.stat().st_mode)
    os.close(ours)
    os.close(theirs)


def test_a_content_is_on_disk_before_its_name_and_both_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut leaves the file before, or all of the new one."""
    file, synced, fsync = tmp_path / "file", list[tuple[object, bytes]](), os.fsync
    file.write_bytes(b"before")

    def note(descriptor: int) -> None:
        fsync(descriptor)
        status = os.fstat(descriptor)
        synced.append(("folder" if stat.S_ISDIR(status.st_mode) else status.st_size, file.read_bytes()))

    monkeypatch.setattr(os, "fsync", note)
    replace_file(file, CONTENT, FORM)
    assert synced == [(len(CONTENT), b"before"), ("folder", CONTENT)]


def test_a_link_stays_and_leads_to_the_new_content(tmp_path: Path) -> None:
    file, link, folder = tmp_path / "file", tmp_path / "link", tmp_path / "folder"
    file.write_bytes(b"before")
    folder.mkdir()
    link.symlink_to(file)
    (folder / "link of a link").symlink_to("../link")
    replace_file(folder / "link of a link", CONTENT, FORM)
    assert link.is_symlink()
    assert file.read_bytes() == CONTENT
    assert not file.is_symlink()
    dangling = tmp_path / "dangling"
    dangling.symlink_to("folder/new")
    replace_file(dangling, b"new", FORM)
    assert (folder / "new").read_bytes() == b"new"


def test_a_private_file_does_not_go_where_a_link_leads(tmp_path: Path) -> None:
    """Somebody else may have made the link, in a folder of many."""
    theirs, token = tmp_path / "theirs", tmp_path / "token"
    theirs.write_bytes(b"")
    token.symlink_to(theirs)
    replace_file(token, b"secret", FORM, private=True)
    assert theirs.read_bytes() == b""
    assert not token.is_symlink()
    assert token.read_bytes() == b"secret"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600


def test_a_link_into_no_folder_is_named_and_stays(tmp_path: Path) -> None:
    link = tmp_path / "nowhere"
    link.symlink_to("no/such/file")
    with pytest.raises(OSError, match="nowhere"):
        replace_file(link, CONTENT, FORM)
    assert os.listdir(tmp_path) == ["nowhere"]


@given(
    # No form begins with this byte; Hypothesis also tries texts of the program itself, such as their headings.
    kept=st.binary().map(b"\0%b".__mod__)
    | st.sampled_from([b"SQLite format 3\0", b"-----BEGIN PRIVATE KEY-----", b"http://a b\n"]),
    form=st.sampled_from(FORMS),
    private=st.booleans(),
)
def test_only_a_file_of_the_same_form_is_replaced(kept: bytes, form: OutputForm, private: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file, link = Path(folder, "file"), Path(folder, "link")
        file.write_bytes(kept)
        link.symlink_to(file)
        for name in (file, link):
            for act in (partial(replace_file, name, b"new", form, private), partial(remove_output, name, form)):
                with pytest.raises(NotReplaceable, match=f"{name.name} exists and is not {form.name}"):
                    act()
        assert file.read_bytes() == kept
        assert link.is_symlink()
        assert len(os.listdir(folder)) == 2


@pytest.mark.parametrize("earlier", [b"", CONTENT, gzip.compress(CONTENT)])
def test_a_file_of_the_same_form_is_replaced(tmp_path: Path, earlier: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(earlier)
    replace_file(file, b"new", FORM)
    assert file.read_bytes() == b"new"
    remove_output(file, FORM)
    remove_output(file, FORM)
    assert not file.exists()


def test_a_deleted_working_folder_is_noticed_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It still is a folder to whoever is in it, and takes no file any more."""
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    for name in ("picture.svg", "./picture.svg", "../picture.svg"):
        with pytest.raises(FileNotFoundError):
            require_replaceable(Path(name), FORM)
    require_replaceable(tmp_path / "picture.svg", FORM)


@pytest.mark.parametrize("private", [True, False])
def test_a_link_in_the_place_of_the_unfinished_file_leads_nowhere(tmp_path: Path, private: bool) -> None:
    """In a folder that other users can write to, they know its name beforehand."""
    theirs, file = tmp_path / "theirs", tmp_path / "file"
    theirs.write_bytes(b"before")
    (tmp_path / f".file.{gethostname()}.{os.getpid()}.{threading.get_native_id()}").symlink_to(theirs)
    replace_file(file, CONTENT, FORM, private)
    assert theirs.read_bytes() == b"before"
    assert file.read_bytes() == CONTENT
    assert not file.is_symlink()


def test_what_a_killed_process_left_is_deleted_by_the_next_one(tmp_path: Path) -> None:
    file, running = tmp_path / "file", tmp_path / f".file.{gethostname()}.{os.getppid()}.1"
    running.touch()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(file)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 2
    replace_file(file, CONTENT, FORM)
    assert sorted(os.listdir(tmp_path)) == sorted([file.name, running.name])


KILLED = """
import os, signal, sys
from pathlib import Path
from langford.machine.durable import replace_file
from langford.machine.outputs import OutputForm
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
replace_file(Path(sys.argv[1]), b"half", OutputForm("half", b"half"))
"""
"""A process that is killed while it writes a file."""


def test_threads_may_replace_one_file_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ranks do that are threads and compile the same program."""
    file, written, fsync = tmp_path / "file", threading.Barrier(2), os.fsync

    def fsync_together(descriptor: int) -> None:
        fsync(descriptor)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            written.wait(60)

    monkeypatch.setattr(os, "fsync", fsync_together)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(replace_file, [file, file], [CONTENT, CONTENT], [FORM, FORM]))
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert file.read_bytes() == CONTENT


def test_a_new_file_has_the_mode_that_its_user_wants(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        replace_file(tmp_path / "file", CONTENT, FORM)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640
