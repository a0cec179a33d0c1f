"""Commands that need no time to start: children of a process that has imported what commands import.

Half of the processor time of all tests went into the same imports, again and again.  A child is the command from
its first line on: its own arguments, folder, environment, streams, process and exit.  What it inherits is modules
alone, so a command whose variables may change what a module does at its import is started as usual.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, NoReturn

from numba.core.registry import cpu_target

from langford import process
from langford.cli import main
from tests.command_line import ENVIRONMENT

ROOT = Path(__file__).parents[1]
LARGEST_REQUEST = 1 << 20


# -- in a test --------------------------------------------------------------------------------


class Preloaded:
    """A process that waits for commands, and makes a child of itself for each."""

    def __init__(self, environment: dict[str, str]) -> None:
        """``environment``: in which it imports the modules."""
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.preloaded", str(other.fileno())],
                cwd=ROOT,
                env=environment,
                pass_fds=[other.fileno()],
            )
        atexit.register(self._process.kill)

    def run(
        self, arguments: list[str], cwd: Path, environment: dict[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Like :func:`subprocess.run` of ``langford`` with arguments."""
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            ended, status = os.pipe()
            request = json.dumps({"arguments": arguments, "cwd": str(cwd), "environment": environment}).encode()
            socket.send_fds(self._socket, [request], [output.fileno(), errors.fileno(), status])
            os.close(status)
            with open(ended, "rb", buffering=0) as reports:
                process = int(reports.readline())
                is_late = not select.select([reports], [], [], timeout)[0]
                if is_late:
                    os.kill(process, signal.SIGKILL)
                code = os.waitstatus_to_exitcode(int(reports.readline()))
            if is_late:
                raise subprocess.TimeoutExpired(arguments, timeout, _text(output), _text(errors))
            return subprocess.CompletedProcess(arguments, code, _text(output), _text(errors))


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return TextIOWrapper(stream, encoding="utf-8", newline=None).read()


@cache
def preloaded() -> Preloaded:
    """The one of this process."""
    return Preloaded(ENVIRONMENT)


# -- in the process that waits ----------------------------------------------------------------


def import_commands() -> None:
    """Import what commands import, as a process of ours."""
    process.claim()
    for command in main.COMMANDS.values():
        import_module(command.reference.partition(":")[0])
    for package in ("db", "jobs", "langford.kernels.cpu"):
        found = import_module(package)
        for module in pkgutil.iter_modules(found.__path__, f"{package}."):
            import_module(module.name)
    # What numba does at the first call of a kernel.
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def become(request: dict[str, Any], output: int, errors: int) -> NoReturn:
    """Be the command, as ``python -m langford`` would be."""
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    for stream, descriptor in enumerate((os.open(os.devnull, os.O_RDONLY), output, errors)):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    sys.path[0] = request["cwd"]
    sys.argv[1:] = request["arguments"]
    runpy.run_module("langford", run_name="__main__", alter_sys=True)
    sys.exit()


def serve(requests: socket.socket) -> None:
    """Make a child for each request, until the test process ends."""
    # Nobody waits for those that have waited for commands.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        content, descriptors, _, _ = socket.recv_fds(requests, LARGEST_REQUEST, 3)
        if not content:
            return
        if os.fork() == 0:
            output, errors, status = descriptors
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            requests.close()
            # This process waits for the command, so that the first one can take the next request.
            child = os.fork()
            if child == 0:
                os.close(status)
                become(json.loads(content), output, errors)
            os.write(status, f"{child}\n".encode())
            os.write(status, f"{os.waitpid(child, 0)[1]}\n".encode())
            os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)


if __name__ == "__main__":
    import_commands()
    gc.collect()
    gc.freeze()  # what is there already is no matter of a child
    serve(socket.socket(fileno=int(sys.argv[1])))
