"""Commands that need no time to start: children of a process that has imported what commands import.

Half of the processor time of all tests went into the same imports, again and again.  A child is the command from
its first line on: its own arguments, folder, environment, streams, process and exit.  What it inherits is modules
alone, so a command whose variables may change what a module does at its import is started as usual.

Tests call :meth:`Preloaded.start`.  Shells start :attr:`Preloaded.program`, whose child
gets its streams and its signals, and which ends as that does.
"""

from __future__ import annotations

import ast
import atexit
import gc
import os
import pkgutil
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, reduce
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NoReturn

from numba.core.registry import cpu_target

from langford.cli import main
from langford.machine import process
from tests.support.command_line import ELSEWHERE, ENVIRONMENT, changes, may_change, write_program
from tests.support.compiled_statements import compile_statements
from tests.support.inheritance import PRELOADED

ROOT = Path(__file__).parents[2]
LARGEST_REQUEST = 1 << 20
Preparation = tuple[str, dict[str, Any]]
"""A function, as "module:name", and its arguments: called in the process of a command before it begins."""
ALONE: Preparation = ("tests.support.preloaded:adapt", {"in_process": True})
"""The command evaluates tasks itself: it starts no processes for them, which take a second."""
Stream = IO[Any] | int | None
"""Where a command writes: a file or its descriptor, ``subprocess.PIPE``, or what the tests have."""


# -- in a test --------------------------------------------------------------------------------


def preload() -> None:
    """Start the process that waits for commands, of this test process and of those that it starts."""
    folder = tempfile.mkdtemp(prefix="langford-preloaded-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_program(Path(folder, "installed"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(os.path.join(folder, "socket"))
        listener.listen(64)
        lifeline, held = os.pipe()  # the other end closes with this process, and then that one ends
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.preloaded", str(listener.fileno()), str(lifeline)],
            cwd=ROOT,
            env=ENVIRONMENT,
            pass_fds=[listener.fileno(), lifeline],
        )
        os.close(lifeline)
    atexit.register(process.wait)
    atexit.register(os.close, held)  # before it
    os.environ[PRELOADED] = folder


class Preloaded:
    """A process that waits for commands, and makes a child of itself for each.

    Attributes:
        program: ``langford`` for shells.
    """

    def __init__(self, folder: Path) -> None:
        """``folder``: that of the process, see :func:`preload`."""
        self._folder, self._address = folder, str(folder / "socket")
        self.program = self.program_for(Path(tempfile.mkdtemp(dir=folder)) / "programs", None)

    def program_for(self, folder: Path, prepare: Preparation | None) -> Path:
        """Write ``langford`` for shells into a new folder; ``prepare``: see :meth:`start`."""
        folder.mkdir()
        program = folder / "langford"
        installed, inherited = str(self._folder / "installed" / "langford"), ENVIRONMENT
        program.write_text(
            PROGRAM.format(
                python=sys.executable,
                installed=installed,
                inherited=inherited,
                address=self._address,
                prepare=prepare,
            )
        )
        program.chmod(0o755)
        return program

    def start(
        self,
        arguments: list[str],
        cwd: Path,
        environment: Mapping[str, str],
        stdout: Stream = None,
        stderr: Stream = None,
        start_new_session: bool = False,
        host: str | None = None,
        prepare: Preparation | None = None,
        stdin: int | None = None,
    ) -> Command:
        """Like :class:`subprocess.Popen` of ``langford`` with arguments.

        Args:
            stdin: what it reads; None: nothing.
            host: the name of the machine, as the command sees it; None: its own.
            prepare: see :data:`Preparation`.
        """
        options = {
            "arguments": arguments,
            "cwd": str(cwd),
            "environment": dict(environment),
            "session": start_new_session,
            "host": host,
            "prepare": prepare,
        }
        return Command(self._address, options, stdin, stdout, stderr)


class Command(subprocess.Popen[str]):
    """A command that runs.  Another process has started it, and says when it has ended."""

    def __init__(
        self, address: str, options: dict[str, object], stdin: int | None, stdout: Stream, stderr: Stream
    ) -> None:
        self.args, self.returncode = options["arguments"], None  # type: ignore[assignment]
        self.stdin = self.stdout = self.stderr = None
        # What communicate() reads, which Popen's own start sets.
        self._communication_started, self._input, self.text_mode = False, None, True
        self._sigint_wait_secs = 0  # after Ctrl-C
        streams = [os.open(os.devnull, os.O_RDONLY) if stdin is None else os.dup(stdin)]
        for name, asked in (("stdout", stdout), ("stderr", stderr)):
            if asked == subprocess.PIPE:
                ours, theirs = os.pipe()
                setattr(self, name, open(ours, encoding="utf-8"))  # noqa: SIM115
                streams.append(theirs)
            else:
                file = getattr(sys, f"__{name}__") if asked is None else asked
                streams.append(os.dup(file if isinstance(file, int) else file.fileno()))
        request = ascii(options).encode()
        # Last, since the process that waits reads a request as soon as there is a connection.
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection.connect(address)
        socket.send_fds(self._connection, [request], streams)
        for stream in streams:
            os.close(stream)
        self.pid = int(self._connection.recv(100))

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            answer = select.poll()  # select() takes no descriptor above 1023
            answer.register(self._connection, select.POLLIN)
            if not answer.poll(None if timeout is None else 1000 * max(timeout, 0)):
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            self.returncode = os.waitstatus_to_exitcode(int(self._connection.recv(100)))
            self._connection.close()
        return self.returncode

    _wait = wait

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode


def is_preloaded_for(environment: Mapping[str, str]) -> bool:
    """Whether a command with these variables needs no start of its own: no module reads them at its import."""
    return may_change(name for name, value in environment.items() if ENVIRONMENT.get(name) != value)


PROGRAM = """#!{python} -IS
import array, os, signal, sys
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_SEQPACKET, SOL_SOCKET, socket

def start_as_usual():
    os.execv({installed!r}, [{installed!r}, *sys.argv[1:]])

try:
    has_terminal = any(os.isatty(stream) for stream in range(3) if os.fstat(stream))
    folder = os.getcwd()
except OSError:  # a stream is closed, or the folder is gone
    start_as_usual()
changed = {{name for name, value in os.environ.items() if {inherited!r}.get(name) != value}}
if has_terminal or any(name.startswith(("PYTHON", "LC_", "PMI_", "HYDRA_")) for name in changed):
    start_as_usual()
passed_on = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2]
ignored = [int(number) for number in passed_on if signal.getsignal(number) is signal.SIG_IGN]
connection = socket(AF_UNIX, SOCK_SEQPACKET)
connection.connect({address!r})
options = dict(
    arguments=sys.argv[1:],
    cwd=folder,
    environment=dict(os.environ),
    ignored=ignored,
    program={installed!r},
    prepare={prepare!r},
)
connection.sendmsg([ascii(options).encode()], [(SOL_SOCKET, SCM_RIGHTS, array.array("i", range(3)))])
child = int(connection.recv(100))
for number in passed_on:
    if number not in ignored:
        signal.signal(number, lambda number, frame: os.kill(child, number))
status = int(connection.recv(100))
if os.WIFSIGNALED(status):
    number = os.WTERMSIG(status)
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
os._exit(os.WEXITSTATUS(status))
"""
"""For shells.  Where a usual start matters, it is one: at a terminal, with closed streams, in a folder that is
gone, under MPI, and with other variables of Python or of a locale than the tests have."""


@cache
def preloaded() -> Preloaded:
    """The one of this run of the tests."""
    if PRELOADED not in os.environ:
        preload()
    return Preloaded(Path(os.environ[PRELOADED]))


# -- in the process that waits ----------------------------------------------------------------

APART = ("db.store.migrations.", "jobs.mpi.", "langford.cli.explore.irregular_work")
"""Modules that stand for themselves: scripts of Alembic, and what needs MPI."""
LAZY = (
    "alembic.command",
    "httpx",
    "multiprocessing.sharedctypes",
    "numpy.ma",
    "prometheus_client",
    "psycopg",
    "starlette.applications",
    "uvicorn",
)
"""What functions import when they need it."""


NO_VALUES: Mapping[str, object] = MappingProxyType({})
PREPARING = ("tests.support.preloaded", "tests.support.farm")
"""Modules whose functions prepare commands."""


def import_commands() -> None:
    """Import what commands import, as a process of ours."""
    process.claim()
    names = [command.reference.partition(":")[0] for command in main.COMMANDS.values()]
    for package in ("db", "jobs", "slurm", "langford.cli", "langford.methods", "langford.kernels.cpu"):
        modules = pkgutil.walk_packages(import_module(package).__path__, f"{package}.")
        names += [module.name for module in modules if not module.name.startswith(APART)]
    for name in (*names, *LAZY, *PREPARING):
        with suppress(ModuleNotFoundError):  # of a package that no test asks for here
            import_module(name)
    # What numba does at the first call of a kernel.
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    compile_statements()


def become(
    streams: list[int],
    arguments: list[str],
    cwd: str,
    environment: dict[str, str],
    ignored: Sequence[int] = (),
    session: bool = False,
    program: str | None = None,
    host: str | None = None,
    prepare: Preparation | None = None,
) -> NoReturn:
    """Be the command, as a program or ``python -m langford`` would be.

    Args:
        streams: its standard streams.
        arguments, cwd, environment: its arguments, folder and variables.
        ignored: the signals that it ignores.
        session: whether it is in a session of its own.
        program: the file of the program; None for the module.
        host, prepare: see :meth:`Preloaded.start`.
    """
    if session:
        os.setsid()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    for stream, descriptor in enumerate(streams):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    open_streams()
    if host is not None:
        exec(ELSEWHERE.format(host=host), {})
    if prepare is not None:
        pkgutil.resolve_name(prepare[0])(**prepare[1])
    sys.path[0] = cwd
    sys.argv[1:] = arguments
    code: object = None
    try:
        if program is None:
            runpy.run_module("langford", run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(program, run_name="__main__")
    except SystemExit as ended:
        code = ended.code
    end(code)


def end(code: object) -> NoReturn:
    """End this process as the interpreter would, but leave it to the system to take the memory apart.

    That takes longer than most commands: all that was ever imported would be copied from the parent for it.
    """
    if code is None or isinstance(code, int):
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
        atexit._run_exitfuncs()  # noqa: SLF001
        with suppress(OSError):  # or else the usual end says what is wrong with the output
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
            os._exit(code or 0)
    sys.exit(code)  # type: ignore[arg-type]


def adapt(values: Mapping[str, object] = NO_VALUES, in_process: bool = False) -> None:
    """Change the command that this process becomes, see :func:`tests.support.command_line.changes`."""
    for where, name, value in changes(values, in_process):
        setattr(where, name, value)


def die_at(place: str) -> None:
    """Have the process of a command killed where it calls this: "module:name" or "module:Class.name"."""
    module, _, path = place.partition(":")
    *owners, name = path.split(".")
    owner = reduce(getattr, owners, import_module(module))
    assert hasattr(owner, name), place
    setattr(owner, name, lambda *_: os.kill(os.getpid(), signal.SIGKILL))


def open_streams() -> None:
    """As the interpreter does at its start: whether a stream has a position, say, is found out then."""
    for name, mode, buffering in (("stdin", "r", -1), ("stdout", "w", -1), ("stderr", "w", 1)):
        before = getattr(sys, name)
        stream = open(  # noqa: SIM115  (until the process ends)
            before.fileno(), mode, buffering, encoding=before.encoding, errors=before.errors, closefd=False
        )
        _replaced.append(before)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


_replaced: list[object] = []
"""Kept: they would close what they stand for."""


class Children:
    """The commands that run, each of which dies with whoever has asked for it."""

    def __init__(self, listener: socket.socket, lifeline: int) -> None:
        self._listener, self._lifeline = listener, lifeline
        self._waiting = select.poll()
        self._asked: dict[int, tuple[int, int, socket.socket]] = {}
        for stream in (listener.fileno(), lifeline):
            self._waiting.register(stream, select.POLLIN)

    def serve(self) -> None:
        """Make one for each request, until the test process ends."""
        while self._lifeline not in (ready := [stream for stream, _ in self._waiting.poll()]):
            for stream in ready:
                if stream == self._listener.fileno():
                    self._begin()
                elif stream in self._asked:
                    self._end(*self._asked[stream])
        for child, _, _ in self._asked.values():
            os.kill(child, signal.SIGKILL)

    def _begin(self) -> None:
        connection, _ = self._listener.accept()
        content, streams, _, _ = socket.recv_fds(connection, LARGEST_REQUEST, 3)
        if not content:
            connection.close()
            return
        child = os.fork()
        if child == 0:
            self._forget()
            connection.close()
            become(streams, **ast.literal_eval(content.decode()))
        for descriptor in streams:
            os.close(descriptor)
        ended = os.pidfd_open(child)
        for stream in (ended, connection.fileno()):
            self._waiting.register(stream, select.POLLIN)
            self._asked[stream] = child, ended, connection
        with suppress(OSError):
            connection.send(b"%d" % child)

    def _forget(self) -> None:
        """Close, in a child, what belongs to the others."""
        os.close(self._lifeline)
        self._listener.close()
        for _, ended, connection in set(self._asked.values()):
            os.close(ended)
            connection.close()

    def _end(self, child: int, ended: int, connection: socket.socket) -> None:
        """One has ended, or who has asked for it is gone; waited for, so that its processor time is known."""
        if not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        with suppress(OSError):
            connection.send(b"%d" % status)
        for stream in (ended, connection.fileno()):
            self._waiting.unregister(stream)
            del self._asked[stream]
        os.close(ended)
        connection.close()


if __name__ == "__main__":
    import_commands()
    gc.collect()
    gc.freeze()  # what is there already is no matter of a child
    Children(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])).serve()
