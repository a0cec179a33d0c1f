"""How tests start the real command line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from langford.steps import compiling_words

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


ENVIRONMENT = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
Run = Callable[..., "subprocess.CompletedProcess[str]"]
"""The fixture ``langford``: arguments of the command → the ended process."""
Mpirun = Callable[..., "subprocess.Popen[str]"]
"""The fixture ``mpirun``: number of ranks, arguments of the command → the process."""


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
        f"#!{sys.executable} -P\nimport sys\nfrom langford.cli.start import main\n"
        "if __name__ == '__main__':\n    sys.argv[0] = 'langford'\n    main()\n"
    )
    program.chmod(0o755)
