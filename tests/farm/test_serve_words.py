"""`langford serve` of a problem in words: the campaign, a worker's token and the command that starts a worker."""

from __future__ import annotations

import os
import re
import shlex
import stat
import subprocess
import time
from pathlib import Path

from tests.support.command_line import Run
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
    for _ in range(2):  # the second one finds the campaign and the token
        server = subprocess.Popen(
            [preloaded().program, *words], cwd=tmp_path, text=True, stderr=subprocess.PIPE, env=os.environ
        )
        try:
            address = wait_for(tmp_path / "ready", server).strip()
            token = next(tmp_path.glob("*.token"))
            kept = token.read_bytes()
            assert stat.S_IMODE(token.stat().st_mode) == 0o600
            name = token.stem
            done = langford("work", f"{address}/{name}", "--token-file", str(token), "--ready-file", "worker")
            assert done.returncode == 0, done.stderr
            assert (tmp_path / "worker").exists()
        finally:
            server.terminate()
            _, log = server.communicate(timeout=30)
        needed = re.search(r"start workers with: langford (.*)", log)
        assert needed is not None, log
        assert shlex.split(needed[1]) == ["work", f"{address}/{name}", "--token-file", token.name]
        assert token.read_bytes() == kept
        assert len(list(tmp_path.glob("*.token"))) == 1
    assert langford("result", name, "--expect", "44").returncode == 0


def test_a_name_is_served_as_before_and_gets_no_token(langford: Run, tmp_path: Path) -> None:
    assert langford("create", "8", "--name", "eight").returncode == 0
    server = subprocess.Popen(
        [preloaded().program, "serve", "eight", "--port", "0", "--ready-file", "ready", "--until-closed"],
        cwd=tmp_path, text=True, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ,
    )  # fmt: skip
    wait_for(tmp_path / "ready", server)
    _, log = server.communicate(timeout=30)  # closes its input, as when the program that started it ends
    assert "start workers with" not in log
    assert "stopped" in log
    assert not list(tmp_path.glob("*.token"))


def test_a_worker_says_what_to_do_about_tasks_that_are_set_aside(langford: Run, tmp_path: Path) -> None:
    for command in ("create 8 --name eight", "token eight --out token", "cancel eight"):
        assert langford(*command.split()).returncode == 0
    with Server(tmp_path, "eight") as server:
        done = langford("work", f"{server.url}/eight", "--token-file", "token")
    assert (done.returncode, "on the machine of the ledger, then `langford retry eight`" in done.stderr) == (
        1,
        True,
    )
