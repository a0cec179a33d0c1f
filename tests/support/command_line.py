"""How tests start the real command line."""

from __future__ import annotations

import gc
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

import pytest

from db.store import damage
from jobs.pools.evaluation import InProcessPool
from jobs.pools.process_pool import WorkerPool
from jobs.run.loop import Run as RunLoop
from langford.cli.main import main
from langford.ledger import Campaign
from langford.machine.process import compiling_words

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "langford"]
ELSEWHERE = """
import os, platform
from langford.kernels.cache import CHOSEN, cache_folder
os.environ[CHOSEN] = str(cache_folder())
platform.node = lambda: {host!r}
"""
"""A process as if it ran on a machine of that name, but with the kernels of this one: it compiles none of them."""


def command_on(host: str | None) -> list[str]:
    """The command on this machine, or as if it ran on a machine of that name."""
    if host is None:
        return COMMAND
    return [sys.executable, "-c", f"{ELSEWHERE.format(host=host)}from langford.cli.main import main; main()"]


STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
"""Signals that a command handles."""
ENVIRONMENT = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
Run = Callable[..., "subprocess.CompletedProcess[str]"]
"""The fixture ``langford``: arguments of the command → the ended process."""
Mpirun = Callable[..., "subprocess.Popen[str]"]
"""The fixture ``mpirun``: number of ranks, arguments of the command → the process."""


def may_change(names: Iterable[str]) -> bool:
    """Whether no module reads variables of these names at its import: such a command needs no start of its own."""
    return all(
        name.startswith("LANGFORD_") or name.upper().endswith(("_PROXY", "COLUMNS", "COLOR")) for name in names
    )


def changes(values: Mapping[str, object], in_process: bool) -> Iterator[tuple[object, str, object]]:
    """What a command to be has otherwise: (a module or a function, the name of an attribute, its value).

    Args:
        values: other values of constants, by "module:name".
        in_process: whether it evaluates tasks itself, and starts no processes for them: those take a second.
    """
    if in_process:
        defaults, others = RunLoop.__init__.__defaults__ or (), Campaign.run.__kwdefaults__
        assert WorkerPool in defaults
        assert others["pool_of"] is WorkerPool
        pools = tuple(InProcessPool if value is WorkerPool else value for value in defaults)
        yield RunLoop.__init__, "__defaults__", pools
        yield Campaign.run, "__kwdefaults__", {**others, "pool_of": InProcessPool}
    for reference, value in values.items():
        module, _, name = reference.partition(":")
        assert hasattr(import_module(module), name), reference
        yield import_module(module), name, value


def run_here(
    arguments: Sequence[str],
    folder: Path,
    variables: Mapping[str, str] | None = None,
    values: Mapping[str, object] | None = None,
    host: str | None = None,
    encoding: str = "utf-8",
) -> subprocess.CompletedProcess[str]:
    """Run ``langford`` in this process, as in one of its own: its exit code, and what it prints.

    It evaluates tasks itself.

    Args:
        arguments, folder: its arguments, and its working folder.
        variables: changes of its environment.
        values: other values of constants, by "module:name".
        host: the name of the machine, as the command sees it; None: its own.
        encoding: that of its output and its errors.
    """
    with ExitStack() as restored:
        changed = restored.enter_context(pytest.MonkeyPatch.context())
        changed.chdir(folder)
        for name, value in {"COLUMNS": "120", "NO_COLOR": "1", **(variables or {})}.items():
            changed.setenv(name, value)
        if host is not None:
            changed.setattr(platform, "node", lambda: host)
        for change in changes(values or {}, in_process=True):
            changed.setattr(*change)
        changed.setattr(damage, "_OPEN", Counter())  # it has opened no ledger yet
        changed.setattr(sys, "argv", ["langford", *arguments])
        changed.setattr(sys.modules["__main__"], "__package__", None)  # the name of a program that click prints
        for stream in ("stdout", "stderr"):
            file = restored.enter_context(tempfile.TemporaryFile())
            changed.setattr(sys, stream, TextIOWrapper(file, encoding=encoding, write_through=True))
        changed.setattr(sys, "stdin", restored.enter_context(open(os.devnull)))
        for number in STOPPING:
            restored.callback(signal.signal, number, signal.getsignal(number))
        restored.callback(gc.unfreeze)  # a command freezes all at its end, which is not the end here
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        assert isinstance(code, int)
        return subprocess.CompletedProcess(arguments, code, _written(sys.stdout), _written(sys.stderr))


RUN_HERE = """
import json, sys
from pathlib import Path
from tests.support.command_line import run_here
ended = [run_here(arguments, Path(sys.argv[1])) for arguments in json.loads(sys.argv[2])]
print(json.dumps([(each.args, each.returncode, each.stdout, each.stderr) for each in ended]))
"""


def run_together(
    commands: Iterable[str], folder: Path, variables: Mapping[str, str]
) -> list[subprocess.CompletedProcess[str]]:
    """Run commands one after the other in a process with these variables, which modules read at their import."""
    done = subprocess.run(
        [sys.executable, "-c", RUN_HERE, folder, json.dumps([command.split() for command in commands])],
        cwd=ROOT, env=ENVIRONMENT | variables, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [subprocess.CompletedProcess(*each) for each in json.loads(done.stdout)]


def _written(stream: TextIO) -> str:
    stream.seek(0)
    with open(stream.fileno(), encoding="utf-8", closefd=False) as file:
        return file.read()


def without_announcement(errors: str) -> str:
    """What a command said, without the lines that tell the first one in a new cache to compile."""
    announcement = re.escape(compiling_words("WHAT")).replace("WHAT", ".*")
    return re.sub(f"^{announcement}\n", "", errors, flags=re.MULTILINE)


def planted(folder: Path, program: str) -> dict[str, str]:
    """Variables with which every Python runs a program at its start, which is kept in the folder."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(program)
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))}


def write_program(folder: Path) -> None:
    """Write ``langford`` into a new folder, as an installation puts it on the PATH."""
    folder.mkdir()
    program = folder / "langford"
    program.write_text(
        f"#!{sys.executable} -P\nimport sys\nsys.path.append({str(ROOT)!r})\nfrom langford.cli.start import main\n"
        "if __name__ == '__main__':\n    sys.argv[0] = 'langford'\n    main()\n"
    )
    program.chmod(0o755)
