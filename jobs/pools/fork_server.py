"""A process that loads everything once, and forks workers from itself.

A worker starts within milliseconds and shares the memory of what was loaded.  The process that asks for workers has
threads and connections, and cannot be forked; the server has one thread and nothing but what was loaded.

Whoever asks owns the server, and the server its workers: each ends with its owner.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum, auto
from multiprocessing import reduction, resource_tracker
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any, NoReturn, TypeVar

from langford.errors import modules_of

SPAWN = multiprocessing.get_context("spawn")
"""How the server itself starts: as a new program, without a thread or a lock of the one that starts it."""
ANSWER_SECONDS = 10.0
"""A server that has not answered in this time is taken to hang."""
PR_SET_PDEATHSIG = 1

Loaded = TypeVar("Loaded")


@contextmanager
def _without_program() -> Iterator[None]:
    """Let no process that starts meanwhile run the program of this one, which may be a script without a guard."""
    program, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


class _Order(Enum):
    START = auto()
    KILL = auto()
    WAIT = auto()


class ForkServer:
    """A process that has loaded everything, seen by its owner, and the connections to the workers it forks."""

    def __init__(self, load: Callable[[], Loaded], work: Callable[[Loaded, int, Connection], None], workers: int):
        """Start the server, and ``workers`` workers as soon as it has loaded; both functions must be picklable.

        Args:
            load: runs once in the server, and leaves no thread behind.
            work: the program of a worker: what was loaded, the worker's number, its end of the connection.
        """
        pairs = [SPAWN.Pipe() for _ in range(workers)]
        self._orders, theirs = SPAWN.Pipe()
        resource_tracker.ensure_running()  # which would hear signals again while the server starts
        # The server hears none from its first moment on: they are blocked for what this thread starts meanwhile.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            owner = os.getpid() if threading.current_thread() is threading.main_thread() else None
            arguments = (theirs, load, work, [their for _, their in pairs], blocked, owner)
            self._process = SPAWN.Process(target=_serve, args=arguments, daemon=True)
            with _without_program():
                self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        # At the end of a program multiprocessing would ask it to end, and wait.
        weakref.finalize(self, self._process.kill)
        for end in (theirs, *(their for _, their in pairs)):
            end.close()
        self.pipes = [ours for ours, _ in pairs]

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def restart(self, number: int) -> None:
        self.pipes[number].close()
        self.pipes[number], theirs = SPAWN.Pipe()
        # When the server has ended, so does the new connection, at once.
        with theirs, suppress(OSError):
            self._orders.send((_Order.START, number))
            reduction.send_handle(self._orders, theirs.fileno(), self.pid)

    def kill(self, number: int) -> None:
        """End a worker; all of them where the server does not answer."""
        with suppress(EOFError):
            self._ask(_Order.KILL, number)

    def exit_code(self, number: int) -> int:
        """Wait for a worker that ends, for its exit code, −N for signal N.

        Raises EOFError when the server has ended, or does not answer, and all workers end with it; OSError when the
        system refused to start the worker; what ``load`` raised.
        """
        return self._ask(_Order.WAIT, number)

    def _ask(self, order: _Order, number: int) -> int:
        try:
            with suppress(OSError):  # a server that could not load has answered before it ended
                self._orders.send((order, number))
            answer = self._orders.recv() if self._orders.poll(ANSWER_SECONDS) else None
        except (EOFError, OSError):
            self._process.join(ANSWER_SECONDS)  # it ends by itself, with an exit code of its own
            raise EOFError from None
        if answer is None:
            self._process.kill()
            raise EOFError
        if isinstance(answer, Exception):
            raise answer
        code: int = answer
        return code

    def stop(self) -> int | None:
        """End the server and all workers, now; returns the exit code of the server, −N for signal N.

        None: it has ended, and this program ignores SIGCHLD, so that its exit code is unknown.  What workers have
        sent is still in the pipes, followed by their end.
        """
        self._process.kill()
        self._process.join()
        self._orders.close()
        return self._process.exitcode


# -- in the server ----------------------------------------------------------------------------


def _serve(
    orders: Connection,
    load: Callable[[], Any],
    work: Callable[[Any, int, Connection], None],
    pipes: Sequence[Connection],
    blocked: set[int | signal.Signals],
    owner: int | None,
) -> None:
    """``blocked``: the signals that workers do not hear, as their owner; the server hears none but SIGKILL.

    ``owner``: its process, if the server was started by the thread that ends with it.
    """
    if owner is not None:
        _end_with_parent(owner)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all, workers too
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, it would lose the exit codes
    # What is loaded stays: no search for garbage looks at it, which would copy it into every worker.
    gc.disable()
    try:
        loaded = load()
    except Exception as error:
        with suppress(OSError):
            orders.send(_as_sent(error))
        os._exit(1)
    gc.freeze()
    alive, kept_open = os.pipe()
    children: dict[int, int | OSError] = {}

    def start(number: int, pipe: Connection) -> None:
        try:
            child = os.fork()
        except OSError as error:
            children[number] = error
        else:
            if child == 0:
                for descriptor in (orders.fileno(), kept_open, *(other.fileno() for other in waiting)):
                    os.close(descriptor)
                _become(lambda: work(loaded, number, pipe), blocked, server, alive)
            children[number] = child
        pipe.close()

    server, waiting = os.getpid(), list(pipes)
    for number in range(len(pipes)):
        start(number, waiting.pop(0))
    while True:
        try:
            order, number = orders.recv()
            if order is _Order.START:
                start(number, Connection(reduction.recv_handle(orders)))
                continue
            child = children.get(number)
            answer: int | OSError = 0
            if isinstance(child, OSError):
                answer = child
            elif child is not None and order is _Order.KILL:
                # It was not waited for yet, so its process id cannot belong to another process.
                os.kill(child, signal.SIGKILL)
            elif child is not None:
                answer = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                del children[number]
            orders.send(answer)
        except (EOFError, OSError):
            os._exit(0)  # the owner has ended


def _as_sent(error: Exception) -> Exception:
    """An error with what another process cannot see of it."""
    error.add_note("".join(traceback.format_tb(error.__traceback__)))
    vars(error)["modules"] = modules_of(error)
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError("".join(traceback.format_exception(error)))
    return error


def _become(work: Callable[[], None], blocked: set[int | signal.Signals], server: int, alive: int) -> NoReturn:
    code = 1
    try:
        _end_with(server, alive)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        gc.enable()
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):  # they may be closed
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _end_with(server: int, alive: int) -> None:
    """End this process as soon as the server does, which ends with its owner.

    ``alive``: reads the end when the server has ended.
    """
    if _end_with_parent(server):
        return
    owner = multiprocessing.parent_process()
    assert owner is not None

    def watch() -> None:
        wait([owner.sentinel, alive])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _end_with_parent(parent: int) -> bool:
    """Have the system kill this process when the parent ends, whatever it does then; False where it cannot."""
    if sys.platform != "linux" or ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL)):
        return False
    if os.getppid() != parent:
        os._exit(1)
    return True
