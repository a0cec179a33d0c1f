"""Files that are kept for speed: damaged in any way, or impossible to write, they are a miss and no more."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langford.cli.counting import count
from langford.kernels import cache
from langford.kernels.cache import CHOSEN, NoCacheFolder
from langford.kernels.cpu.compiled import kernel
from langford.kernels.gpu import cuda, host, runtime
from langford.machine import kept as keeping
from langford.machine.kept import can_keep, kept, locked, read, write
from tests.support.command_line import COMMAND, ENVIRONMENT, run_here

CONTENT = bytes(range(256)) * 8
OTHER_USER = 12_345
Damage = Callable[[bytes], bytes]


def at(share: float, whole: bytes) -> int:
    return int(share * (len(whole) - 1))


shares = st.floats(0, 1)
damages: st.SearchStrategy[Damage] = st.one_of(
    st.just(lambda whole: b""),
    st.just(lambda whole: bytes(len(whole))),
    st.builds(lambda share: lambda whole: whole[: at(share, whole)], shares),
    st.builds(lambda more: lambda whole: whole + more, st.binary(min_size=1)),
    st.builds(lambda new: lambda whole: new, st.binary()),
    st.builds(
        lambda share, new: lambda whole: whole[: at(share, whole)] + new + whole[at(share, whole) + len(new) :],
        shares,
        st.binary(min_size=1, max_size=40),
    ),
    st.builds(
        lambda share, bit: (
            lambda whole: (
                whole[: at(share, whole)]
                + bytes([whole[at(share, whole)] ^ 1 << bit])
                + whole[at(share, whole) + 1 :]
            )
        ),
        shares,
        st.integers(0, 7),
    ),
)
"""What a power cut, a full disk or a copied home makes of a file."""


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "_said", set())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for what is kept."""
    folder = tmp_path / "kept"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv(CHOSEN, str(folder))
    return folder


@given(damages)
def test_a_damaged_file_is_a_miss_and_replaced(damage: Damage) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "file")
        write(file, CONTENT)
        whole = file.read_bytes()
        file.write_bytes(damage(whole))
        assert read(file) == (CONTENT if damage(whole) == whole else None)
        assert kept(file, lambda: CONTENT) == CONTENT
        assert file.read_bytes() == whole


@pytest.mark.parametrize("in_the_way", ["folder", "full folder", "link", "pipe", "closed"])
def test_what_is_no_file_is_a_miss(tmp_path: Path, in_the_way: str, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    if in_the_way.endswith("folder"):
        file.mkdir()
        if in_the_way == "full folder":
            (file / "more").touch()
    elif in_the_way == "link":
        (tmp_path / "other").write_bytes(CONTENT)
        file.symlink_to(tmp_path / "other")
    elif in_the_way == "pipe":
        os.mkfifo(file)
    else:
        file.touch(mode=0)
    for _ in range(2):
        assert kept(file, lambda: CONTENT) == CONTENT
    said = capfd.readouterr().err
    if in_the_way.endswith("folder"):
        assert said == f"langford: {file} is a folder, but a cache file belongs there: delete it\n"
    else:
        assert read(file) == CONTENT
        assert said.count("\n") == (in_the_way == "closed")
    if in_the_way == "link":
        assert (tmp_path / "other").read_bytes() == CONTENT


def test_names_of_folders_are_printed_as_they_are_but_for_what_cannot_be(capfd: pytest.CaptureFixture[str]) -> None:
    keeping.say_once("/Müller\n/\udcff")
    assert capfd.readouterr().err == "langford: /Müller\\n/\\udcff\n"


def test_where_nothing_can_be_kept_it_is_made_and_said_once(
    small_disk: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    large = bytes(2**17)
    for name in ("one", "two", "one"):
        assert kept(small_disk / name, lambda: large) == large
    assert not can_keep(small_disk, "XDG_CACHE_HOME")
    assert capfd.readouterr().err == (
        f"langford: nothing can be kept in {small_disk} (No space left on device), so kernels are compiled at "
        "each start: free some space there, or name another folder with XDG_CACHE_HOME\n"
    )
    assert sorted(os.listdir(small_disk)) == ["one.lock", "two.lock"]
    for nowhere in (small_disk / "none" / "file", Path("/dev/null/file")):
        assert kept(nowhere, lambda: CONTENT) == CONTENT
    assert kept(None, lambda: CONTENT) == CONTENT


def test_several_that_read_damage_and_replace_at_once_all_get_the_content(tmp_path: Path) -> None:
    file = tmp_path / "file"

    def turn(number: int) -> bytes:
        if number % 3 == 0:
            file.write_bytes(CONTENT[: number % 97])
        return kept(file, lambda: CONTENT)

    with ThreadPoolExecutor(8) as pool:
        assert {*pool.map(turn, range(500))} == {CONTENT}


HOLDER = """
import sys, time
from pathlib import Path
from langford.machine.kept import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(1000)
"""


def test_a_stopped_process_holds_others_up_for_a_limited_time_and_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(keeping, "PATIENCE_SECONDS", 0.2)
    lock = home / "compiling.lock"
    with subprocess.Popen([sys.executable, "-c", HOLDER, lock], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        holder.send_signal(signal.SIGSTOP)
        try:
            for _ in range(2):
                with locked(lock):
                    pass
        finally:
            holder.kill()
    [line] = capfd.readouterr().err.splitlines()
    assert line == (
        f"langford: process {holder.pid} has kept {lock} locked for 0 s, so this one continues without the lock. "
        f"If {holder.pid} is stopped, resume it with `kill -CONT {holder.pid}`"
    )
    with locked(lock):  # the lock of a process that has ended is free
        assert lock.read_text() == str(os.getpid())


def twice(number: int) -> int:
    return 2 * number


@pytest.mark.parametrize("damage", [lambda whole: whole[:99], lambda whole: b"", lambda whole: bytes(len(whole))])
def test_a_damaged_kernel_is_compiled_again(home: Path, damage: Damage, capfd: pytest.CaptureFixture[str]) -> None:
    assert kernel(twice)(2) == 4
    [file] = home.glob("*.nbc")
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert kernel(twice)(3) == 6
    said = f"langford: a file in {home} cannot be used (it is damaged): its content is made again\n"
    assert capfd.readouterr().err == said
    assert read(file) is not None
    again = kernel(twice)
    assert again(4) == 8
    assert sum(again.stats.cache_hits.values()) == 1
    assert os.listdir(home) == [file.name]


def test_kernels_are_not_taken_for_others(home: Path) -> None:
    """A file under the name of another shape, and one that cannot be rebuilt."""
    shapes = kernel(twice)
    assert (shapes(2), shapes(2.5)) == (4, 5.0)
    one, other = home.glob("*.nbc")
    one.write_bytes(other.read_bytes())
    fresh = kernel(twice)
    assert (fresh(2), fresh(2.5)) == (4, 5.0)
    for file in (one, other):
        write(file, b"cos\nno_such_name\n.")
    fresh = kernel(twice)
    assert (fresh(2), fresh(2.5)) == (4, 5.0)


def test_a_kernel_is_compiled_where_no_folder_is_safe(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def none() -> Path:
        raise NoCacheFolder("there is no safe folder")

    monkeypatch.setattr(cache, "cache_folder", none)
    assert kernel(twice)(2) == 4
    assert capfd.readouterr().err == "langford: there is no safe folder\n"


@pytest.mark.exhaustive
def test_functions_of_added_methods_are_kept_in_the_same_way(home: Path, tmp_path: Path) -> None:
    """In the processes of this program; those of another program stay numba's."""
    module = tmp_path / "added.py"
    module.write_text(
        "import sys\nfrom langford.machine import process\nif sys.argv[1:]: process.claim()\n"
        "import langford.kernels.cpu\nfrom numba import njit\n"
        "@njit(cache=True)\ndef twice(number): return 2 * number\nprint(twice(2))\n"
    )
    for ours in ([], ["ours"]):
        done = subprocess.run([sys.executable, module, *ours], env=ENVIRONMENT | {CHOSEN: str(home)}, check=True)
        assert done.returncode == 0
        assert len(list(home.glob("*.nbc"))) == len(ours)


class Nvrtc:
    """In the place of NVIDIA's compiler."""

    NVRTCError = ZeroDivisionError

    def __init__(self) -> None:
        self.compiled = 0

    def getVersion(self) -> tuple[int, int]:  # noqa: N802 -- its names
        return 13, 0

    def createProgram(self, *_: object) -> str:  # noqa: N802
        return "program"

    def compileProgram(self, *_: object) -> None:  # noqa: N802
        self.compiled += 1

    def getCUBIN(self, program: str) -> bytes:  # noqa: N802
        return CONTENT


def test_damaged_code_of_a_gpu_is_compiled_again(home: Path) -> None:
    nvrtc = Nvrtc()
    cupy: Any = SimpleNamespace(cuda=SimpleNamespace(nvrtc=nvrtc))

    def code() -> bytes:
        return cuda.machine_code(cupy, "source", {"major": 9, "minor": 0})

    assert [code(), code()] == [CONTENT] * 2
    assert nvrtc.compiled == 1
    [file] = home.glob("*.cubin")
    for damaged in (b"", CONTENT, file.read_bytes()[:-1]):
        file.write_bytes(damaged)
        assert code() == CONTENT
    assert nvrtc.compiled == 4


def test_cupy_keeps_its_kernels_in_memory_where_its_folder_takes_none(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    small_disk.chmod(0o700)
    monkeypatch.setenv("CUPY_CACHE_IN_MEMORY", "")
    monkeypatch.setenv("CUPY_CACHE_DIR", str(small_disk))
    monkeypatch.setitem(sys.modules, "cupy", None)  # type: ignore[arg-type]  # not installed
    with pytest.raises(runtime.NoGpu):
        runtime.device_count()
    assert os.environ["CUPY_CACHE_IN_MEMORY"] == "1"
    assert f"nothing can be kept in {small_disk}" in capfd.readouterr().err


@pytest.mark.exhaustive
def test_damaged_code_of_a_gpu_on_the_processor_is_compiled_again(home: Path) -> None:
    def library() -> Path:
        vars(host)["_compiled"].cache_clear()
        host.HostProgram('extern "C" __global__ void nothing() {}', "nothing", 32)
        [file] = home.glob("*.so")
        return file

    whole = library().read_bytes()
    library().write_bytes(whole[:-1])  # other damage: above, of any file
    assert read(library()) is not None


def test_an_end_of_a_file_is_no_interrupt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(*_: object, **__: object) -> None:
        raise EOFError("Ran out of input")

    monkeypatch.setattr(count, "callback", ends)
    with pytest.raises(EOFError, match="Ran out of input"):
        run_here(["count", "8"], tmp_path)


@pytest.mark.exhaustive
def test_a_damaged_module_of_python_is_deleted(tmp_path: Path) -> None:
    variables = {**ENVIRONMENT, "PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    command = [*COMMAND, "list", "3"]
    subprocess.run(command, env=variables, check=False, capture_output=True)
    for module in ("langford/methods/__init__", "langford/cli/main"):
        [file] = tmp_path.rglob(f"{module}.*.pyc")
        os.truncate(file, 300)
        done = subprocess.run(command, env=variables, check=False, capture_output=True, text=True)
        assert (done.returncode, done.stderr.strip()) == (
            2,
            f"langford: {file} was damaged, and is deleted: repeat the command",
        )
        assert not file.exists()


def test_what_another_user_can_have_changed_is_not_used(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Kernels are pickles, and run as this user."""
    file = tmp_path / "kernel"
    for act in (lambda: file.chmod(0o666), lambda: file.chmod(0o620), lambda: os.chown(file, OTHER_USER, -1)):
        write(file, CONTENT)
        assert read(file) == CONTENT
        if os.geteuid() == 0 or "chmod" in act.__code__.co_names:
            act()
            assert read(file) is None
            assert kept(file, lambda: b"made again") == b"made again"
            assert read(file) == b"made again"
    assert "other users can have changed it" in capfd.readouterr().err
