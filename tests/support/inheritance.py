"""What a run of the tests takes over from the shell that starts it, and what it leaves behind: nothing.

This module is imported before all others of the tests, by the process that a user starts and by each one of
pytest-xdist.  Settings of the shell change what commands print and how they end: ``nohup`` has a process ignore
SIGHUP, a shell has its background jobs ignore SIGINT, and every child inherits that.

However a run ends, by Ctrl-C or by SIGKILL, a small process outlives it and ends all that it has started.  It finds
them by a variable in their environment, since servers of databases and clusters are in sessions of their own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid

KEPT = {"LANGFORD_GOLDEN", "LANGFORD_SCREENSHOTS", "LANGFORD_TEST_BLOCKS"}
"""Variables by which one chooses what the tests do."""
DROPPED = (
    "LANGFORD_", "LC_", "LANGUAGE", "PYTHON", "COLUMNS", "LINES", "TERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR",
    "XDG_STATE_HOME", "SLURM_", "SBATCH_", "PMI_", "PG", "SSH_",
    "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
)  # fmt: skip
"""How the names of variables begin that no test sees."""
RUN = "LANGFORD_TESTS"
"""The variable that all processes of a run of the tests have."""
PRELOADED = "LANGFORD_TESTS_PRELOADED"
"""Names the folder of the process that waits for commands, for all of them: see :mod:`tests.support.preloaded`."""
DEFAULTS = ("HUP", "TERM", "QUIT", "USR1", "USR2", "ALRM", "CHLD", "TSTP", "TTIN", "TTOU")
"""Signals that have their default effect.  SIGPIPE has it in every process that Python starts."""

WARDEN = """
import os, signal, sys, time
mark, grace = sys.argv[1].encode(), float(sys.argv[2])

def left():
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if mark in file.read().split(bytes(1)):
                        found.append(int(name))
            except OSError:
                pass
    return found

os.read(0, 1)  # until the run of the tests has ended
for number in (0, signal.SIGTERM, signal.SIGQUIT, signal.SIGKILL):
    for process in left() if number else ():
        try:
            os.kill(process, number)
        except OSError:
            pass
    deadline = time.monotonic() + grace
    while left() and time.monotonic() < deadline:
        time.sleep(0.1)
"""
"""Ends what is left of a run, which gets some seconds to do so itself.  SIGQUIT has Postgres end at once."""
GRACE_SECONDS = 5.0


def forget_the_shell() -> None:
    """Signals, variables and permissions as in a fresh session."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in DEFAULTS:
        signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.umask(0o022)
    # Each of the processes would compile all modules again, which takes them seconds each.
    sys.dont_write_bytecode = False
    for name in list(os.environ):
        if name.startswith(DROPPED) and name not in {*KEPT, RUN, PRELOADED}:
            del os.environ[name]
    # As many threads as cores in each of many processes only wait for each other, and do so busily; so do ranks.
    waiting = {"OPENBLAS_NUM_THREADS": "1", "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"}
    os.environ |= {"LANG": "C.UTF-8", "TERM": "dumb", **waiting}


def watch_over_this_run() -> None:
    """Start the process that ends what is left of this run."""
    os.environ[RUN] = str(uuid.uuid4())
    held = subprocess.PIPE  # it closes with this process, however that ends
    others = {name: value for name, value in os.environ.items() if name != RUN}
    program = [sys.executable, "-ISc", WARDEN, f"{RUN}={os.environ[RUN]}", str(GRACE_SECONDS)]
    _wardens.append(subprocess.Popen(program, stdin=held, env=others, cwd="/", start_new_session=True))


_wardens: list[subprocess.Popen[bytes]] = []
"""Kept, so that nothing closes the pipe before this process ends."""

forget_the_shell()
if RUN not in os.environ and os.path.isdir("/proc/self"):
    watch_over_this_run()
