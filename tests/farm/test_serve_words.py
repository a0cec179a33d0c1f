"""`langford serve` of a problem in words: the campaign, its join file and the command that starts a worker."""

from __future__ import annotations

import os
import re
import shlex
import signal
import stat
import subprocess
import time
from pathlib import Path

from jobs.reach.join import Join
from tests.support.command_line import COMMAND, ENVIRONMENT, Run
from tests.support.preloaded import preloaded
from tests.support.servers import Server


def wait_for(file: Path, server: subprocess.Popen[str]) -> str:
    deadline = time.monotonic() + 60
    while not file.exists():
        assert server.poll() is None, server.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return file.read_text()


def test_a_problem_in_words_is_served_and_completed(langford: Run, tmp_path: Path) -> None:
    words = ["serve", "near-skolem", "8", "missing", "3", "--port", "0", "--ready-file", "ready"]
    tokens = set[str]()
    for program, number, code in (  # the second one finds the campaign and the token
        (COMMAND, signal.SIGINT, 128 + signal.SIGINT),
        ([str(preloaded().program)], signal.SIGTERM, -signal.SIGTERM),
    ):
        server = subprocess.Popen(
            [*program, *words], cwd=tmp_path, text=True, stderr=subprocess.PIPE, env=ENVIRONMENT
        )
        try:
            address = wait_for(tmp_path / "ready", server).strip()
            file = next(tmp_path.glob("*.join"))
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            join, name = Join.read(file), file.stem
            assert join.addresses == [f"{address}/{name}"]
            tokens.add(join.token)
            done = langford("work", str(file))
            assert done.returncode == 0, done.stderr
        finally:
            server.send_signal(number)
            _, log = server.communicate(timeout=30)
        assert server.returncode == code, log
        needed = re.search(r"start workers with: langford (.*)", log)
        assert needed is not None, log
        assert shlex.split(needed[1]) == ["work", file.name]
        assert len(list(tmp_path.glob("*.join"))) == len(tokens) == 1
    assert langford("result", name, "--expect", "44").returncode == 0


def test_a_name_is_served_until_the_program_that_started_it_ends(langford: Run, tmp_path: Path) -> None:
    assert langford("create", "8", "--name", "eight").returncode == 0
    server = subprocess.Popen(
        [preloaded().program, "serve", "eight", "--port", "0", "--ready-file", "ready", "--until-closed"],
        cwd=tmp_path, text=True, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ,
    )  # fmt: skip
    wait_for(tmp_path / "ready", server)
    _, log = server.communicate(timeout=30)  # closes its input, as when the program that started it ends
    assert "start workers with: langford work eight.join\n" in log
    assert "stopped" in log


def test_a_worker_says_what_to_do_about_tasks_that_are_set_aside(langford: Run, tmp_path: Path) -> None:
    for command in ("create 8 --name eight", "cancel eight"):
        assert langford(*command.split()).returncode == 0
    with Server(tmp_path, "eight"):
        done = langford("work", "eight.join")
    assert (done.returncode, "on the machine of the ledger, then `langford retry eight`" in done.stderr) == (
        1,
        True,
    )
