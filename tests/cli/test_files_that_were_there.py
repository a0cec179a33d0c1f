"""No option or argument replaces or deletes a file that this program did not write for this purpose."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from langford.cli.main import cli
from tests.support.command_line import Run

WRITES = {
    "delete --out": "delete seven --yes --out {}.gz",
    "draw --out": "draw 4 --out {}.svg",
    "export --out": "export seven --out {}.gz",
    "query --out": "query SELECT/**/*FROM/**/task_overview --format csv --out {}.csv",
    "report --out": "report seven --out {}.html",
    "report --figures": "report seven --figures {}",
    "serve --join": "serve seven --join {} --port 0",
    "serve --ready-file": "serve nonsense --ready-file {}",
    "slurm keep --logs": "slurm keep 8 --partition none --logs {}",
    "slurm reserve --logs": "slurm reserve --logs {} -- 7",
    "table --out": "table skolem 4 --out {}.csv",
    "token --out": "token seven --out {}",
    "tune --out": "tune polyphase 3 --out {}",
    "marginals --out": "marginals 4 --colour 2 --out {}.svg",
    "verify --statement": "verify seven --statement {}",
    "work --outbox": "work none --outbox {}",
}
"""A command for each option that writes to a path: its end, and all before."""
FURTHER = {
    "export --out (its signature)": "export seven --sign key --out seven.gz",
    "ledger copy TARGET": "ledger copy langford.db {}",
    "query --out (table)": "query SELECT/**/*FROM/**/task_overview --format table --out {}",
    "query --out (JSON)": "query SELECT/**/*FROM/**/task_overview --json --out {}",
    "table --out (b-file)": "table skolem 4 --out {}.txt",
}
"""The same options in other formats, and paths that are no paths to click."""
OTHERWISE = {"ledger copy TARGET", "report --figures", "serve --join", "slurm keep --logs"} | {
    "slurm reserve --logs",
    "tune --out",
    "work --outbox",
}
"""These refuse a file in words of their own: it is no ledger, no token or no folder."""
READS = {"cite --from", "import files", "report --from", "work file"}
KEY = b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----\n"
THESIS = b"Langford pairings\n\nRun `langford report 28`, see https://example.org/.\n# A014552: rows\n" * 20
CONTENTS = {"key": KEY, "thesis": THESIS, "PDF": b"%PDF-1.7\n%\xb5\xb5\xb5\xb5\n" + THESIS, "list": b"[\n  1\n]\n"}


def options(command: click.Command, names: tuple[str, ...] = ()) -> Iterator[str]:
    """All options and arguments that are paths, but those of files that must exist."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from options(found, (*names, name))
    for parameter in command.params:
        if isinstance(parameter.type, click.Path) and not (parameter.type.exists and not parameter.type.dir_okay):
            yield " ".join([*names, parameter.opts[0]])


def test_every_option_that_writes_is_tried() -> None:
    assert set(options(cli)) - READS == WRITES.keys()


@pytest.fixture
def prepared(langford: Run, tmp_path: Path, undrawn: None) -> Run:
    assert langford("run", "7", "--name", "seven").returncode == 0
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")], check=True)
    return langford


@pytest.mark.parametrize("option", [*WRITES, *FURTHER])
def test_what_was_there_stays(prepared: Run, tmp_path: Path, option: str) -> None:
    command = (WRITES | FURTHER)[option].split()
    [named] = [word for word in command if "{}" in word] or ["seven.gz.sig"]
    words = [word.format("there") for word in command]
    there, elsewhere = tmp_path / named.format("there"), tmp_path / "elsewhere"
    for kind, content in {**CONTENTS, "ledger": (tmp_path / "langford.db").read_bytes()}.items():
        there.write_bytes(content)
        done = prepared(*words)
        assert there.read_bytes() == content, kind
        assert done.returncode, kind
        there.unlink()
        elsewhere.write_bytes(content)
        there.symlink_to(elsewhere)
        prepared(*words)
        assert there.is_symlink()
        assert elsewhere.read_bytes() == content, kind
        there.unlink()
    if option.startswith("slurm keep"):
        return  # it waits for a cluster
    there.mkdir()
    (there / "thesis.txt").write_bytes(THESIS)
    prepared(*words)
    assert (there / "thesis.txt").read_bytes() == THESIS


AGAIN = [*FURTHER, "draw --out", "export --out", "query --out", "report --out", "table --out", "token --out"]
AGAIN.remove("ledger copy TARGET")


@pytest.mark.parametrize("option", AGAIN)
def test_what_a_command_wrote_is_replaced_by_the_same_command(prepared: Run, tmp_path: Path, option: str) -> None:
    words = (WRITES | FURTHER)[option].format("there").split()
    written = []
    for _ in range(2):
        done = prepared(*words)
        assert done.returncode == 0, done.stderr
        [*_, there] = sorted([*tmp_path.glob("there*"), *tmp_path.glob("seven.gz*")])
        written.append(there.stat().st_mtime_ns)
    assert written[0] < written[1]


def test_an_export_is_not_replaced_by_one_that_lacks_its_results(prepared: Run, tmp_path: Path) -> None:
    assert prepared("run", "8", "--name", "eight").returncode == 0
    assert prepared("delete", "eight", "--yes").returncode == 0
    kept = tmp_path / "eight.jsonl.gz"
    content = kept.read_bytes()
    refusal = f"langford: {kept.name} has 1 result of eight that the export of {{}} lacks: give another --out\n"
    assert prepared("create", "8", "--name", "eight").returncode == 0
    assert prepared("export", "eight").stderr == refusal.format("eight")
    assert prepared("export", "seven", "--out", kept.name).stderr == refusal.format("seven")
    assert prepared("export", "eight", "--damaged").stderr == refusal.format("eight")
    assert kept.read_bytes() == content
    assert prepared("run", "eight").returncode == 0
    assert prepared("export", "eight").returncode == 0


def test_a_file_for_scripts_is_only_removed_if_it_is_one(langford: Run, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    for content, is_left in (("http://127.0.0.1:8765\n", False), ("", False), ("see http://127.0.0.1\n", True)):
        ready.write_text(content)
        assert langford("serve", "nonsense", "--ready-file", "ready").returncode == 2
        assert ready.exists() == is_left
    ready.unlink()
    os.mkfifo(ready)
    langford("serve", "nonsense", "--ready-file", "ready")
    assert ready.is_fifo()
