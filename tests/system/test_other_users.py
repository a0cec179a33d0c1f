"""Another user of the machine plants code where the program looks for its own: it is not run, the count is right.

The code is a pickle in the place of each compiled kernel.  Loaded, it makes a folder and ends the program.
"""

from __future__ import annotations

import os
import pickle
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from langford.kernels.cache import cache_folder
from langford.machine.kept import write
from langford.provenance import kernel_hash
from tests.support.command_line import COMMAND, ENVIRONMENT, planted, run_here
from tests.support.joins import join_file

PLANTED_CODE = 99
"""The exit code of a program that loads planted code."""
COUNT = ["count", "3", "--method", "godfrey"]


class Code:
    """Runs when it is loaded from a pickle."""

    def __init__(self, proof: Path) -> None:
        self._program = f"import os; os.mkdir({str(proof)!r}); os._exit({PLANTED_CODE})"

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return exec, (self._program,)


class Machine:
    """Folders of the victim, and what an enemy plants in them.

    Attributes:
        top: holds all of them.
        home: the victim's home folder.
        working: its working folder, where everybody may write.
        temporary: for temporary files of everybody.
        kernels: where this user's compiled kernels are among them.
        proof: is there when planted code was run.
    """

    def __init__(self, top: Path) -> None:
        self.top = top
        self.home, self.working, self.temporary = (top / name for name in ("home", "working", "temporary"))
        for folder, mode in ((self.home, 0o700), (self.working, 0o1777), (self.temporary, 0o1777)):
            folder.mkdir()
            folder.chmod(mode)
        self.kernels = self.temporary / f"langford-{os.geteuid()}-{kernel_hash()}"
        self.proof = top / "proof"

    def plant(self, folder: Path) -> None:
        """Plant code in a folder of this user's: in an open one others could have."""
        copy_kernels(folder)
        kernels = list(folder.glob("*.nbc"))
        assert kernels
        for file in kernels:
            write(file, pickle.dumps(Code(self.proof)))

    def run(self, *arguments: str, python: str | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the command, or a program; without the usual folder it finds compiled kernels in the other one."""
        kept = {name: value for name, value in ENVIRONMENT.items() if not name.startswith(("XDG_", "NUMBA_"))}
        return subprocess.run(
            [sys.executable, "-c", python] if python else [*COMMAND, *arguments],
            cwd=self.working,
            env={**kept, "HOME": str(self.home), "TMPDIR": str(self.temporary), **variables},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def counts(self, done: subprocess.CompletedProcess[str]) -> list[str]:
        """The remarks of a command that has counted, and run no planted code; not that it compiles."""
        assert done.returncode == 0, done.stderr
        assert "L(2,3) = 1\n" in done.stdout
        assert not self.proof.exists()
        return [line for line in done.stderr.splitlines() if not line.startswith("compiling")]


def copy_kernels(folder: Path) -> None:
    """Copy the kernels of the count, which were compiled for tests before."""
    folder.mkdir(mode=0o700, parents=True)
    for file in cache_folder().iterdir():
        if file.suffix == ".nbc" or file.name.startswith("godfrey"):
            shutil.copy(file, folder)


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """The kernels of the count are compiled for tests."""
    assert run_here(COUNT, Path.cwd()).returncode == 0


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def warm(machine: Machine) -> Machine:
    """A machine where this user has compiled kernels among the temporary files."""
    copy_kernels(machine.kernels)
    return machine


def kernels_below(home: Path) -> Path:
    return home / "langford" / f"{platform.node()}-{kernel_hash()}"


@pytest.mark.exhaustive
def test_planted_code_would_run(machine: Machine) -> None:
    """In a folder of the victim: otherwise the other tests show nothing."""
    machine.plant(kernels_below(machine.top / "cache"))
    done = machine.run(*COUNT, XDG_CACHE_HOME=str(machine.top / "cache"))
    assert done.returncode == PLANTED_CODE, done.stderr
    assert machine.proof.exists()


@pytest.mark.exhaustive
def test_a_cache_folder_below_one_that_others_may_write_to(warm: Machine) -> None:
    home = warm.top / "cache"
    folder = kernels_below(home)
    warm.plant(folder)
    home.chmod(0o777)
    (said,) = warm.counts(warm.run(*COUNT, XDG_CACHE_HOME=str(home)))
    assert f"langford: {folder} is not used for compiled code: other users can write to " in said


@pytest.mark.exhaustive
def test_settings_of_numba_in_the_working_folder(warm: Machine) -> None:
    """numba reads them again before each compilation: here they come after the program has begun."""
    folder = warm.top / "theirs"
    warm.plant(folder)
    program = f"""
from pathlib import Path
import langford, langford.kernels.cpu, numba
Path(".numba_config.yaml").write_text("cache_dir: {folder}")
numba.config.reload_config()
assert numba.config.CACHE_DIR == "{folder}"
print("L(2,3) =", langford.count(3, method="godfrey"))
"""
    assert warm.counts(warm.run(python=program, XDG_CACHE_HOME="/dev/null")) == []


NO_NAME = "import pwd\ndef unknown(user):\n    raise KeyError(user)\npwd.getpwuid = unknown\n"


def test_a_user_without_name_and_home(warm: Machine) -> None:
    """The home folder of such a user is "~", which would be one in the working folder, as that of the variable."""
    for folder in ("~/.cache", "cache"):
        warm.plant(kernels_below(warm.working / folder))
    no_home = planted(warm.top / "planted", f"{NO_NAME}import os\nos.environ.pop('HOME', None)\n")
    done = warm.run(*COUNT, XDG_CACHE_HOME="cache", **no_home)
    assert warm.counts(done) == []


# -- other places -----------------------------------------------------------------------------

CUPY = """
import json, os, sys
from types import SimpleNamespace
names = ("CUPY_CACHE_DIR", "CUPY_CUDA_LIB_PATH", "CUDA_CACHE_PATH")
print("CuPy uses", json.dumps([os.environ.get(name) for name in names]), file=sys.stderr)
cuda = SimpleNamespace(is_available=lambda: False)
"""
"""In the place of CuPy, which loads libraries when it is imported, and kernels later."""


@pytest.fixture
def cupy(machine: Machine) -> dict[str, str]:
    """Variables with which Python finds that CuPy."""
    found = planted(machine.top / "planted", "")
    (machine.top / "planted" / "cupy.py").write_text(CUPY)
    return found


def test_folders_that_are_named_for_cupy_are_looked_at_too(machine: Machine, cupy: dict[str, str]) -> None:
    private, open_one = machine.temporary / "kernels", machine.top / "open"
    open_one.mkdir()
    open_one.chmod(0o777)
    named = {"CUPY_CACHE_DIR": str(private), "CUPY_CUDA_LIB_PATH": str(open_one)}
    said = machine.run(*COUNT, "--device", "cuda", **cupy, **named).stderr
    assert (
        f'CuPy uses ["{private}", "{kernels_below(machine.home / ".cache") / "cupy_cuda_lib_path"}", null]' in said
    )
    assert f"langford: {open_one} is not used for compiled code: other users can write to it, and may have" in said
    assert private.stat().st_mode & 0o777 == 0o700


@pytest.mark.exhaustive
def test_an_outbox_that_others_may_write_to(machine: Machine) -> None:
    state = machine.top / "state"
    state.mkdir()
    state.chmod(0o777)
    work = ["work", join_file(machine.top, "http://127.0.0.1:9/seven", "token"), "--time-limit", "1"]
    variables = {"XDG_STATE_HOME": str(state)}
    refused = machine.run(*work, **variables)
    folder = state / "langford" / "outbox"
    assert refused.returncode == 2
    assert refused.stderr == (
        f"langford: results cannot be kept in {folder}, where other users can replace them: other users can "
        "write to "
        f"{state}: chmod go-w {state}, or choose another folder with --outbox\n"
    )
    named = machine.run(*work, "--outbox", str(state), **variables)
    assert named.returncode == 3
    assert f"other users can replace results in {state}, which are then sent as this worker's: other users" in (
        named.stderr
    )
