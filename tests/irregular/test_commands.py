"""``langford irregular`` as a user runs it, also with a real mpirun."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from langford.cli.main import main
from langford.version import install
from tests.support.command_line import COMMAND, ENVIRONMENT, Mpirun, without_announcement
from tests.support.preloaded import preloaded

Call = Callable[..., tuple[int, str, str]]
SEARCH = ("irregular", "bfs", "--mpi")


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    """Run the command in this process: (exit code, output, errors)."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["langford", "irregular", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, errors = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, without_announcement(errors)

    return run


def document(outcome: tuple[int, str, str]) -> Any:
    code, out, errors = outcome
    assert code == 0, errors
    return json.loads(out)


def test_tree(call: Call) -> None:
    told = document(call("tree", "langford", "8", "--depth", "2", "--json"))
    assert (told["count"], told["arrangements"]) == ("150", "300")
    assert [(level["depth"], level["nodes"], level["states"]) for level in told["levels"]] == [
        (1, 4, 4),
        (2, 21, 21),
    ]
    assert {"mean_below", "sigma_below", "largest_below"} <= told["levels"][0].keys()
    assert told["walk"]["walks_for_1_percent"] == pytest.approx(1e4 * told["walk"]["relative_sigma"] ** 2, abs=1)
    assert told["walk"]["switch"] == 4
    code, out, _ = call("tree", "langford", "5")
    assert code == 0
    assert "no arrangement" in out
    assert "relative sigma" in call("tree", "skolem", "5")[1]


@pytest.mark.exhaustive
def test_cycle(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "edges.txt"
    file.write_text("# a triangle and a shortcut\n10 20 1\n20 30 2\n30 10 5\n\n20 10 8\n")
    assert document(call("cycle", "edges.txt", "--json")) == {
        "value": "8/3", "cycle": [10, 20, 30], "iterations": 1
    }  # fmt: skip
    told = document(call("cycle", "edges.txt", "--maximum", "--json"))
    assert (told["value"], told["cycle"]) == ("9/2", [10, 20])
    file.write_text("0 0 7 2\n")
    assert "ratio: 7/2" in call("cycle", "edges.txt")[1]
    for start, end in (("\ufeff", "\n"), ("", "\r\n"), ("", "\x0c\n"), ("  # remark\n\t", "")):
        file.write_text(f"{start}1 1 2{end}", encoding="utf-8", newline="")
        assert document(call("cycle", "edges.txt", "--json"))["value"] == "2"


@pytest.mark.exhaustive
def test_bfs(call: Call) -> None:
    told = document(call("bfs", "--scale", "8", "--roots", "3", "--json"))
    assert told["gteps"] > 0
    assert len(told["searches"]) == 3
    for search in told["searches"]:
        assert {"root", "reached", "edges", "seconds", "valid"} <= search.keys()
    assert "five rules" in call("bfs", "--scale", "6", "--roots", "2")[1]


BAD = [
    ("tree langford 70", "128 bits"),
    ("cycle {file}", "line 2: 2 words"),
    ("cycle /proc/self/mem", "cannot be read"),
    ("tree langford 8 --device cuda", "GPU"),
    ("bfs --scale 8 --device cuda", "GPU"),
    ("bfs --scale 27 --device cuda", "use --mpi, even with one GPU"),
    ("bfs --scale 45", "bytes of memory"),
    ("bfs --scale 0 --roots 1", "no vertex has an edge"),
]
BAD_FILES = [
    ("1 2\n", "line 1: 2 words"),
    ("1 2 3\n1 2 3 4\n", "line 2: 4 words"),
    ("-1 2 3\n", "line 1: the vertex -1 is negative"),
    ("1 2 0.5\n", "line 1: '0.5' is not a whole number of up to 18 digits"),
    ("1 2 3\n", "no cycle"),
    ("7 7 3 0\n", "edges.txt: the cycle 7 takes no time"),
    ("10 20 3 0\n20 30 1 0\n30 10 1 0\n1 10 1 0\n1 2 1 1\n", "the cycle 10 → 20 → 30 takes no time"),
    ("".join(f"{v} {(v + 1) % 12} 1 0\n" for v in range(12)), "7 → 8 → 9 and 2 more takes no time"),
    ("1 1 3 1\n1 1 3 -1\n", "line 2: the time -1 is negative"),
    (f"1{'0' * 18} 1 2\n", "of up to 18 digits"),
    ("u,v,weight\n1,2,3\n", "line 1: 'u' is not a whole number"),
    ("\x00\xff 1 2\n", "is not a whole number"),
    ("1 2 3\x0b\n1 2\n", "line 2: 2 words"),
    ("1,2\n", "line 1: 2 words; write"),
    ("\u0663 2 3\n", "line 1: '\u0663' is not a whole number"),
    ("1 1 1_000\n", "line 1: '1_000' is not a whole number"),
]


EDGES = [(1, 2, 5), (2, 3, -1), (3, 1, 4), (2, 1, 9)]
"""Cycles of means 8/3 and 7."""
FORMATS = {
    "words": "".join(f"{u}  {v}\t{w}\n" for u, v, w in EDGES),
    "csv": "".join(f"{u}, {v}, {w}\n" for u, v, w in EDGES),
    "csv with remarks": "# source,target,weight\n" + "".join(f"{u},{v},{w} # edge\r\n" for u, v, w in EDGES),
}


@pytest.mark.parametrize("content", FORMATS.values(), ids=list(FORMATS))
def test_lists_of_edges_with_spaces_or_commas(call: Call, tmp_path: Path, content: str) -> None:
    (tmp_path / "edges.txt").write_text(content)
    found = document(call("cycle", "edges.txt", "--json"))
    assert (found["value"], found["cycle"]) == ("8/3", [1, 2, 3])


def test_edges_come_from_standard_input(tmp_path: Path) -> None:
    ended = subprocess.run(
        [preloaded().program, "irregular", "cycle", "-"], input=FORMATS["csv"], env=ENVIRONMENT, cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.stdout.startswith("least mean: 8/3\n"), ended.stderr


@pytest.mark.parametrize(("line", "message"), BAD)
def test_bad_input_is_one_line(call: Call, tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "edges.txt").write_text("1 2 3\n1 2\n")
    code, out, errors = call(*line.format(file="edges.txt").split())
    assert (code, out) == (2, "")
    assert errors.startswith("langford: ")
    assert errors.count("\n") == 1
    assert message in errors


@pytest.mark.parametrize(("content", "message"), BAD_FILES)
def test_bad_files_are_one_line(call: Call, tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "edges.txt").write_text(content)
    code, out, errors = call("cycle", "edges.txt")
    assert (code, out, errors.count("\n")) == (2, "", 1)
    assert message in errors


def test_without_scipy_the_group_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "scipy.py").write_text("raise ImportError('no SciPy here')")
    environment = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join([str(tmp_path), ENVIRONMENT.get("PYTHONPATH", "")])}
    command = [*COMMAND, "irregular", "tree", "langford", "4"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert install("irregular") in ended.stderr
    assert ended.stderr.count("\n") == 1


# -- mpirun -----------------------------------------------------------------------------------

NOTED_SEARCHES = """
import os
from pathlib import Path
from jobs.mpi import graph500
from langford.cli.start import main

def check_edges(*arguments):
    Path(f"{os.getpid()}.searching").touch()
    return check(*arguments)

check, graph500.check_edges = graph500.check_edges, check_edges
main()
"""
"""``langford`` whose ranks note that they search, while they do."""


@pytest.mark.exhaustive
def test_ranks_find_what_one_process_finds(call: Call, mpirun: Mpirun) -> None:
    arguments = ["--scale", "8", "--roots", "2", "--json"]
    # Before the ranks start: they wait busily for whichever of them compiles.
    known = document(call("bfs", *arguments))
    process = mpirun(2, *SEARCH, *arguments)
    out, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    told = json.loads(out)
    assert told["ranks"] == 2
    for search, same in zip(told["searches"], known["searches"], strict=True):
        assert {**search, "seconds": 0} == {**same, "seconds": 0}


@pytest.mark.exhaustive
def test_an_interruption_is_no_traceback(python_on_ranks: Mpirun, tmp_path: Path) -> None:
    process = python_on_ranks(2, "-c", NOTED_SEARCHES, *SEARCH, "--scale", "14", "--roots", "100000")
    _searching(tmp_path, 2)[1].send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "stopped by SIGINT" in errors
    assert "Traceback" not in errors
    assert process.returncode != 0


def _searching(folder: Path, count: int) -> list[psutil.Process]:
    """The ranks, once all of them search and have noted it in this folder."""
    deadline = time.monotonic() + 100
    notes: list[Path] = []
    while len(notes) < count and time.monotonic() < deadline:
        time.sleep(0.05)
        notes = list(folder.glob("*.searching"))
    assert len(notes) == count
    return [psutil.Process(int(note.stem)) for note in notes]
