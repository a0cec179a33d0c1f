"""What runs in a container: no home folder, a root file system that is read-only, one folder to write to.

A pod is here a mount namespace of this machine.  ``benchmarks/container.sh`` builds and runs the whole image.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from jobs.reach.join import Join
from langford.cli.main import cli
from langford.errors import BadInput
from tests.support.command_line import ENVIRONMENT, Run
from tests.support.joins import join_file
from tests.support.servers import Server

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
POD = """
set -e
mount --make-rprivate /
mount --bind {data} {data}
for place in / /tmp /var/tmp; do mountpoint -q $place && mount -o remount,bind,ro $place; done
cd {data}
exec env -i PATH="$PATH" PYTHONPATH="$PYTHONPATH" PYTHONDONTWRITEBYTECODE=1 {variables} {command}
"""


def in_a_pod(data: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command where only one folder can be written to, also by root."""
    given = shlex.join(f"{name}={value}" for name, value in variables.items())
    script = POD.format(data=data, variables=given, command=shlex.join(command))
    return subprocess.run(
        ["unshare", "--mount", "--ipc", "--uts", "bash", "-c", script],
        env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


LANGFORD = [sys.executable, "-P", "-m", "langford"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The volume of a pod; skips where this machine allows no namespaces."""
    made = tmp_path / "data"
    made.mkdir(mode=0o700)
    if in_a_pod(made, "true").returncode:
        pytest.skip("needs the right to make mount namespaces: run as root, with unshare")
    assert in_a_pod(made, "touch", f"{tmp_path}/x").returncode != 0
    return made


@pytest.mark.exhaustive
def test_a_worker_without_a_home_folder(langford: Run, data: Path) -> None:
    assert langford("create", "8", "--method", "godfrey", "--depth", "4", "--name", "eight").returncode == 0
    with Server(data.parent, "eight"):
        join = str(data.parent / "eight.join")
        done = in_a_pod(data, *LANGFORD, "work", "--workers", "1", LANGFORD_JOIN=join)
        assert done.returncode == 0, done.stderr
    assert "L(2,8) = 150" in langford("result", "eight").stdout


def test_a_secret_that_a_cluster_mounts_is_read(tmp_path: Path) -> None:
    """It belongs to root and to the group of the pod's user; what belongs to the user is for the user alone."""
    file = Path(join_file(tmp_path, "http://127.0.0.1:9/eight", "token"))
    file.chmod(0o440)
    with pytest.raises(BadInput, match="chmod 600"):
        Join.read(file)
    if os.geteuid():
        pytest.skip("needs root, to give a file to another user")
    os.chown(file, 1000, 1000)
    assert Join.read(file).token == "token"
    file.chmod(0o444)
    with pytest.raises(BadInput, match="chmod 600"):
        Join.read(file)


def test_the_examples_use_commands_and_options_that_there_are() -> None:
    documents = list(yaml.safe_load_all((EXAMPLES / "kubernetes.yaml").read_text()))
    assert [document["kind"] for document in documents] == ["Service", "StatefulSet", "Job"]
    for document in documents[1:]:
        [container] = document["spec"]["template"]["spec"]["containers"]
        name, *arguments = container["args"]
        variables = {each["name"]: each["value"] for each in container.get("env", [])}
        command = cli.get_command(None, name)  # type: ignore[arg-type]  # it needs no context
        assert command is not None
        command.make_context(name, arguments or [variables["LANGFORD_JOIN"]])
        written = [path for path in (*arguments, *variables.values()) if path.startswith("/")]
        mounted = {each["mountPath"] for each in container["volumeMounts"]}
        assert {str(Path(path).parent) for path in written} <= mounted
    probe = documents[1]["spec"]["template"]["spec"]["containers"][0]["readinessProbe"]["httpGet"]
    assert probe["path"] == "/health"
    extras = set(re.findall(r"/src\[([\w,]+)\]", (EXAMPLES / "Containerfile").read_text()))
    assert extras == set(re.findall(r"/src\[([\w,]+)\]", (EXAMPLES / "langford.def").read_text()))
