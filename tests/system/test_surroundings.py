"""Where the program runs: full and closed outputs, folders with the names of its packages, little patience."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from matplotlib.rcsetup import validate_backend

import langford
from db import Ledger
from langford.cli.campaigns import running
from langford.cli.failures import VARIABLES
from langford.cli.output import display
from tests.support.cases import exhaustive
from tests.support.command_line import COMMAND, ENVIRONMENT, Run, planted, without_announcement
from tests.support.preloaded import Preparation, preloaded
from tests.support.servers import Server


def ran(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env={**ENVIRONMENT, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which $langford is the program, and $started the same one, started as usual."""
    return ran(["sh", "-c", command], folder, langford=str(preloaded().program), started=" ".join(COMMAND))


@pytest.mark.parametrize("arguments", ["count 8", "list 7", "--help"])
def test_a_full_output_is_one_line_and_exit_1(tmp_path: Path, arguments: str) -> None:
    done = shell(tmp_path, f"$langford {arguments} > /dev/full")
    assert done.returncode == 1, done.stderr
    said = without_announcement(done.stderr)
    assert said.startswith("langford: cannot write the output (No space left on device)")
    assert len(said.splitlines()) == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("run langford 8 --time-limit 0", 3),
        ("list 7 > /dev/full", 1),
    ],
)
def test_who_cannot_be_told_gets_the_same_exit_code(tmp_path: Path, arguments: str, code: int) -> None:
    told, untold, unheard = (
        shell(tmp_path, f"$langford {arguments} {errors}") for errors in ("2>errors", "2>/dev/full", "2>&-")
    )
    assert [done.returncode for done in (told, untold, unheard)] == [code, code, code]
    assert told.stdout == untold.stdout
    assert "Traceback" not in (tmp_path / "errors").read_text()


@pytest.mark.parametrize(("command", "code"), [("list 3", 0), ("run langford 8", 2)])
def test_a_working_folder_that_is_gone_is_one_line(tmp_path: Path, command: str, code: int) -> None:
    done = shell(tmp_path, f"mkdir gone && cd gone && rmdir ../gone && $langford {command}")
    assert done.returncode == code, done.stderr
    said = without_announcement(done.stderr)
    assert said.startswith("langford: the working folder is gone: change to one that exists") == (code == 2)
    assert len(said.splitlines()) == (code == 2)


def test_closed_outputs_leave_no_traceback(tmp_path: Path) -> None:
    done = shell(tmp_path, "$langford list 7 >&-")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert shell(tmp_path, "$langford list 7 >&- 2>&-").returncode == 0
    assert "Traceback" not in shell(tmp_path, "$langford list 7 | true").stderr


@pytest.mark.parametrize("arguments", ["list 11", "count 8"])
def test_a_reader_that_has_enough_is_no_failure(tmp_path: Path, arguments: str) -> None:
    done = shell(tmp_path, f"{{ $langford {arguments}; echo ended with $? >&2; }} | head -c 1")
    assert len(done.stdout) == 1
    assert done.stderr.splitlines()[-1] == "ended with 0", done.stderr
    assert "Traceback" not in done.stderr


def test_an_argument_that_is_no_text_is_bad_input(langford: Run, tmp_path: Path) -> None:
    assert langford("run", "langford", "7", "--name", "seven").returncode == 0
    for arguments in (
        "status $wrong",
        "token seven --label $wrong",
        "recheck seven --kernel $wrong",
        "delete $wrong --yes",
    ):
        done = shell(tmp_path, rf"wrong=$(printf 'a\377'); $langford {arguments}")
        assert done.returncode == 2, (arguments, done.stderr)
        assert done.stderr == (
            "langford: a\\udcff is not valid text here: use a UTF-8 locale, and write it in UTF-8\n"
        ), arguments
    assert "seven" in langford("status").stdout


def test_files_may_have_names_that_are_no_text(langford: Run, tmp_path: Path) -> None:
    assert langford("run", "langford", "7", "--name", "seven").returncode == 0
    done = shell(
        tmp_path,
        r"name=$(printf '\377'); $langford export seven --out $name.gz && $langford result --from $name.gz",
    )
    assert done.returncode == 0, done.stderr
    assert os.fsencode(tmp_path) + b"/\xff.gz" in [os.fsencode(file) for file in tmp_path.iterdir()]
    assert "L(2,7) = 26" in done.stdout


FULL = """
import resource, sys
import numpy
from langford.cli.main import main
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, [pages * resource.getpagesize() + 2**25] * 2)
sys.argv = ["langford", "count", "12"]
main()
"""
"""A process that may take 32 MiB more than it has."""


@pytest.mark.parametrize(
    ("command", "limit"),
    [
        (f"{shlex.quote(sys.executable)} -c {shlex.quote(FULL)}", "Cannot allocate memory"),
        ("ulimit -f 2; $started draw 12 --out drawn.svg", "File too large"),
        *exhaustive([("ulimit -n 14; $started run langford 11 --depth 4 --workers 6", "Too many open files")]),
    ],
)
def test_a_limit_of_the_system_is_named(tmp_path: Path, command: str, limit: str) -> None:
    done = shell(tmp_path, command)
    assert done.returncode == 1, done.stderr
    assert f"langford: this process has reached a limit of the system ({limit}): raise its" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_search_that_finds_nothing_says_so_within_2_seconds(tmp_path: Path) -> None:
    assert display.SLOW_SECONDS < 2
    at_once: Preparation = ("tests.support.preloaded:adapt", {"values": {f"{display.__name__}:SLOW_SECONDS": 0.1}})
    for arguments in (["list", "40", "--limit", "1"], ["draw", "60", "--sample-seed", "1"]):
        process = preloaded().start(arguments, tmp_path, ENVIRONMENT, stderr=subprocess.PIPE, prepare=at_once)
        assert process.stderr is not None
        assert "still searching" in process.stderr.readline()
        process.terminate()
        process.communicate()


def test_more_workers_than_cores_are_announced(langford: Run) -> None:
    many = str(len(os.sched_getaffinity(0)) + 1)
    for command in (["count", "8", "--workers", many], ["run", "langford", "8", "--workers", many]):
        done = langford(*command)
        assert done.returncode == 0
        assert f"{many} processes on" in done.stderr


FEW_ARE_MANY = {f"{running.__name__}:MANY_TASKS": 0}
"""Every number of tasks is taken for many: the question is what matters."""
CREATE = ["create", "langford", "8", "--depth", "4"]


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 2), ("", 2)])
def test_a_campaign_of_millions_of_tasks_asks_at_a_terminal(tmp_path: Path, answer: str, code: int) -> None:
    ours, terminal = pty.openpty()
    adapted: Preparation = ("tests.support.preloaded:adapt", {"values": FEW_ARE_MANY})
    process = preloaded().start(
        CREATE,
        tmp_path,
        ENVIRONMENT,
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        prepare=adapted,
    )
    os.write(ours, f"{answer}\n".encode())
    _, errors = process.communicate(timeout=60)
    os.close(ours)
    os.close(terminal)
    assert errors is not None
    assert "B on disk when they are done. Create it?" in errors
    assert process.returncode == code, errors
    with Ledger(str(tmp_path / "langford.db"), create=True) as ledger:
        assert len(ledger.campaigns()) == (code == 0)


@pytest.mark.exhaustive
def test_memory_is_bounded(tmp_path: Path) -> None:
    """A command answers or refuses within a gigabyte, whatever it is asked for."""
    # A small process starts it: the peak of a child begins with that of its parent.
    program = (
        "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdin=-3, stdout=-3); "
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    asked = ["create", "langford", "24", "--method", "miller", "--depth", "10"]
    done = ran([sys.executable, "-c", program, *COMMAND, *asked], tmp_path)
    code, kilobytes = map(int, done.stdout.split())
    assert code in (0, 2), done.stderr
    assert kilobytes * 1024 < 2**30


PACKAGES = ("db", "jobs", "slurm")


def make_foreign(folder: Path, package: str) -> None:
    """Make a folder in a folder that is a package of that name, but not this program's."""
    (folder / package).mkdir()
    (folder / package / "__init__.py").write_text("raise SystemExit('the foreign package was imported')\n")


def test_foreign_packages_break_nothing(tmp_path: Path) -> None:
    for package in PACKAGES:
        make_foreign(tmp_path, package)
    command = Path(sys.executable).with_name("langford")
    starts = [COMMAND, [str(command)] if command.exists() else [sys.executable, "-P", "-m", "langford"]]
    for start in starts:
        done = ran([*start, "status"], tmp_path)
        assert done.returncode == 2, done.stderr
        assert "there is no ledger" in done.stderr
        assert "foreign" not in done.stderr


def test_a_foreign_package_is_diagnosed_in_one_line(tmp_path: Path) -> None:
    make_foreign(tmp_path, "jobs")
    done = ran([*COMMAND, "count", "8"], tmp_path.parent, PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert f"{tmp_path / 'jobs' / '__init__.py'} is in the way" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A zip with the program, which starts it."""
    made = tmp_path_factory.mktemp("zipped") / "langford.pyz"
    root = Path(langford.__file__).parents[1]
    with ZipFile(made, "w") as zipped:
        for package in ("langford", *PACKAGES):
            for file in (root / package).rglob("*"):
                if file.is_file() and file.suffix != ".pyc":
                    zipped.write(file, file.relative_to(root))
        zipped.writestr("__main__.py", "from langford.cli.start import main\nmain()\n")
    return made


@pytest.mark.parametrize("arguments", ["count 8", "--version"])
def test_a_zip_is_named_as_what_it_cannot_run_from(archive: Path, arguments: str) -> None:
    done = ran([sys.executable, str(archive), *arguments.split()], archive.parent)
    said = f"langford: langford cannot run from a zip ({archive}): install it (`pip install langford`)\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


@pytest.mark.parametrize("name", ["count", "Ledger"])
def test_a_library_in_a_zip_is_named_too(archive: Path, name: str) -> None:
    asks = f"import langford\ntry: langford.{name}\nexcept langford.BadInput as error: print(error)"
    done = ran([sys.executable, "-c", asks], archive.parent, PYTHONPATH=str(archive))
    assert done.stdout.startswith(f"langford cannot run from a zip ({archive})"), done.stderr


ASKS_FOR_A_LEDGER = """
import multiprocessing, sys, langford
def ask(_=None):
    try:
        langford.Ledger("l.db", create=True).close()
        langford.NoSuchCampaign
    except langford.BadInput as error:
        return str(error)
if __name__ == "__main__":
    print(ask())
    print(multiprocessing.get_context("spawn").Pool(1).map(ask, [0])[0])
"""
"""The same question in a script, a notebook or a test, and in a process that one of them starts."""


@pytest.mark.parametrize("name", ["db.py", "jobs/__init__.py", "__main__"])
def test_a_file_beside_a_script_that_hides_a_package_is_named(tmp_path: Path, name: str) -> None:
    script = tmp_path / ("db.py" if name == "__main__" else "script.py")
    script.write_text(ASKS_FOR_A_LEDGER)
    in_the_way = script if name == "__main__" else tmp_path / name
    in_the_way.parent.mkdir(exist_ok=True)
    if in_the_way != script:
        in_the_way.write_text("rows = 1\n")
    done = ran([sys.executable, str(script)], tmp_path)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert [line.partition(" is in the way")[0] for line in said] == [str(in_the_way)] * 2


def test_a_foreign_package_that_is_imported_already_is_named(tmp_path: Path) -> None:
    (tmp_path / "db.py").write_text("rows = 1\n")
    program = "import db, langford\ntry: langford.Ledger\nexcept langford.BadInput as error: print(error)"
    done = ran([sys.executable, "-c", program], tmp_path)
    assert done.stdout.startswith(f"{tmp_path / 'db.py'} is in the way")


def test_a_folder_of_data_beside_a_script_is_not_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "script.py").write_text(
        "import langford\nlangford.Ledger('l.db', create=True).close()\nprint('open')"
    )
    assert ran([sys.executable, "script.py"], tmp_path).stdout == "open\n"


def test_scripts_start_without_the_working_folder_on_the_path(langford: Run, tmp_path: Path) -> None:
    name = "langford-8-polyphase-0"
    assert langford("create", "langford", "8").returncode == 0
    options = ["--time", "20:00", "--dry-run"]
    with Server(tmp_path, name):
        worker = langford("slurm", "keep", "--once", "--join", f"{name}.join", *options)
    reserved = langford("slurm", "reserve", *options, "--", "langford", "8")
    for done in (worker, reserved):
        assert done.returncode == 0, done.stderr
        assert f"{sys.executable} -P -m langford " in done.stdout
        assert f"#SBATCH --chdir={tmp_path}" in done.stdout


FINDER = """class Absent:
    def find_spec(self, name, *_):
        if name == {module!r}:
            raise ImportError("No module named " + repr(name))
sys.meta_path.insert(0, Absent())"""
"""As some loaders report it: the error does not name the module otherwise."""
NONE = "sys.modules[{module!r}] = None"
PARTS = {"_sqlite3": "status", "_ssl": "serve x"}
"""Modules, and a command that needs each."""


def without(absent: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program on a Python that was built without a module: that is what the line ``absent`` makes of it."""
    program = f"import sys\n{absent}\nfrom langford.cli.start import main; main()"
    return ran([sys.executable, "-c", program, *arguments], folder)


def test_a_variable_that_a_library_cannot_use_is_named(langford: Run) -> None:
    assert langford("run", "7", "--name", "seven").returncode == 0
    done = langford("status", "seven", variables={"TZ": "XYZ+24:00"}, in_process=False)
    said = "langford: the variable TZ cannot be used ('XYZ+24:00'): correct or unset it\n"
    assert (done.returncode, done.stderr) == (2, said)
    with pytest.raises(ValueError, match=VARIABLES["MPLBACKEND"]):
        validate_backend("bogus")


@pytest.mark.exhaustive
def test_a_python_without_parts_names_what_it_lacks(tmp_path: Path) -> None:
    for module, command in PARTS.items():
        refused = without(NONE.format(module=module), tmp_path, *command.split())
        assert (refused.returncode, refused.stdout) == (2, "")
        *_, said = refused.stderr.splitlines()
        assert said.startswith(f"langford: this Python has no {module} ({sys.executable}): use another one")
        assert "Traceback" not in refused.stderr
    both = "\n".join(NONE.format(module=module) for module in PARTS)
    found = {each["part"]: each["state"] for each in json.loads(without(both, tmp_path, "doctor", "--json").stdout)}
    assert (found["sqlite"], found["tls"], found["processor"]) == ("absent", "absent", "works")


def test_a_library_that_sqlite_needs_and_that_is_absent(tmp_path: Path) -> None:
    loader = FINDER.format(module="_sqlite3").replace("No module named ", "libsqlite3.so.0: cannot open ")
    refused = without(loader, tmp_path, "status")
    assert refused.returncode == 2
    assert "langford: this Python has no sqlite3" in refused.stderr
    assert "Traceback" not in refused.stderr


NO_NUMBA = """import numba
code = {"__name__": "numba.core"}
exec("def njit(*_, **__): raise RuntimeError('no compiler')", code)
numba.njit = code["njit"]
"""


@pytest.mark.exhaustive
def test_a_numba_that_does_not_start_is_named(tmp_path: Path) -> None:
    broken = planted(tmp_path / "planted", NO_NUMBA)
    refused, doctor = (
        ran([*COMMAND, *command], tmp_path, **broken) for command in (["count", "8"], ["doctor", "--json"])
    )
    *_, said = refused.stderr.splitlines()
    assert said.startswith("langford: numba cannot start (RuntimeError: no compiler): ")
    assert "Traceback" not in refused.stderr
    assert refused.returncode == 2
    [processor] = [each for each in json.loads(doctor.stdout) if each["part"] == "processor"]
    assert processor["state"] == "broken"
