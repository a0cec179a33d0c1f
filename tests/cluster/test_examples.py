"""The programs of docs/examples count right; :mod:`tests.cluster.test_slurm_cluster` runs the job script."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cases import exhaustive
from tests.support.command_line import ENVIRONMENT
from tests.support.pages import ROOT

EXAMPLES = ROOT / "docs" / "examples"
SHOWN = "L(2,12) = 108,144\n"
PROGRAMS = {
    "with_submitit.py": ("submitit", ["12", "--jobs", "2", "--cluster", "debug"]),
    "with_dask.py": ("distributed", ["12"]),
}


@pytest.mark.parametrize("name", ["with_submitit.py", *exhaustive(["with_dask.py"])])
def test_a_program_counts_with_processes_of_this_machine(name: str, tmp_path: Path) -> None:
    package, arguments = PROGRAMS[name]
    pytest.importorskip(package, reason=f"needs {package}")
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, SHOWN), done.stderr


def test_every_example_is_run_here() -> None:
    files = {file.name for file in EXAMPLES.iterdir() if file.is_file()}
    in_containers = {"Containerfile", "kubernetes.yaml", "langford.def"}  # tests/system/test_containers.py
    assert files == {*PROGRAMS, "workers.sbatch", "langford.lua", *in_containers}


def test_the_module_puts_the_command_on_the_path_of_the_page() -> None:
    """Lmod runs it; here is no Lua."""
    module = (EXAMPLES / "langford.lua").read_text()
    [root] = re.findall(r'^local root = "(.*)"$', module, re.MULTILINE)
    assert f"python3 -m venv {root}\n" in (EXAMPLES.parent / "where-it-runs.md").read_text()
    assert 'prepend_path("PATH", pathJoin(root, "bin"))' in module
