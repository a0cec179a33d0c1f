"""`langford status` of a ledger and of a real server with real workers: once, and again and again."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from db.look.overview.records import Overview
from db.messages import converted
from db.states import Role
from tests.support.command_line import ENVIRONMENT, Run
from tests.support.farm import CAMPAIGN, COUNT, LONG_CAMPAIGN, NAME, Farm
from tests.support.joins import join_file
from tests.support.preloaded import Command, Preparation, preloaded


@pytest.fixture
def long_farm(tmp_path: Path) -> Iterator[Farm]:
    made = Farm(tmp_path, LONG_CAMPAIGN)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def idle_farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    """One that nobody works for."""
    made = Farm(tmp_path_factory.mktemp("idle"), CAMPAIGN)
    yield made
    made.stop()


def joining(farm: Farm, role: Role = Role.READER) -> str:
    address = f"http://127.0.0.1:{farm.port}/{NAME}"
    return join_file(farm.folder, address, farm.campaign.operator.new_token(role), name=f"{role}.join")


SOON: Preparation = (
    "tests.support.preloaded:adapt",
    {"values": {f"langford.cli.campaigns.status:{name}_SECONDS": 0.2 for name in ("LOG", "TERMINAL")}},
)


def watching(farm: Farm, *arguments: str) -> Command:
    command, pipe = ["status", *arguments, "--watch"], subprocess.PIPE
    return preloaded().start(command, farm.folder, ENVIRONMENT, stdout=pipe, stderr=pipe, prepare=SOON)


def test_a_server_says_what_its_ledger_says(farm: Farm, langford: Run) -> None:
    asked = ["status", joining(farm)]
    workers = [farm.work(outbox=f"outbox-{number}") for number in range(2)]
    farm.wait_until(lambda: farm.done() > 0.1 * farm.campaign.tasks and len(farm.workers()) == 2)
    farm.finish(*workers)

    def has_seen_all() -> bool:
        [document] = json.loads(langford(*asked, "--json").stdout)
        endings = [worker["ending"] for worker in document["workers"]]
        return document["finished"] is not None and endings == ["finished"] * 2

    farm.wait_until(has_seen_all, pause=0.5)  # the server may still tell what was so some seconds ago
    [there] = json.loads(langford(*asked, "--json").stdout)
    [here] = json.loads(langford("status", NAME, "--json").stdout)
    assert here["count"] == there["count"] == str(COUNT)
    assert here["agrees"] is there["agrees"] is True
    differ = {"now", "events", "warnings"}
    assert {key: here[key] for key in here.keys() - differ} == {key: there[key] for key in there.keys() - differ}
    assert [worker["ending"] for worker in here["workers"]] == ["finished"] * 2
    for worker in farm.workers():
        assert worker.id not in langford(*asked, "--json").stdout
    for why in (["--why"], ["--why", "3"]):
        assert langford(*asked, *why).stdout == langford("status", NAME, *why).stdout


def test_a_token_of_any_role_shows_the_status(idle_farm: Farm, langford: Run) -> None:
    for role in Role:
        shown = langford("status", joining(idle_farm, role))
        assert shown.stdout.startswith(f"{NAME}: L(2,12) by godfrey at depth 8\n")


@pytest.mark.parametrize(
    ("where", "token", "words"),
    [
        ("http://127.0.0.1:{port}/farmed", "wrong", "check both"),
        ("http://127.0.0.1:{port}/absent", "", "check both"),
        ("http://127.0.0.1:{port}", "", "is not the address of a campaign"),
        ("https://127.0.0.1:{port}/farmed", "", "does not speak TLS"),
    ],
)
def test_what_goes_wrong_is_said_in_one_line(
    idle_farm: Farm, langford: Run, where: str, token: str, words: str
) -> None:
    token = token or idle_farm.campaign.operator.new_token(Role.READER)
    file = join_file(idle_farm.folder, where.format(port=idle_farm.port), token)
    for more in ([], ["--watch"]):
        done = langford("status", file, *more)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
        assert words in done.stderr


def first_lines(process: Command, number: int) -> list[str]:
    """What a process writes first."""
    assert process.stdout is not None
    return [process.stdout.readline() for _ in range(number)]


def test_watching_into_a_log_ends_with_the_campaign(farm: Farm) -> None:
    with watching(farm, joining(farm)) as log, watching(farm, NAME, "--json") as documents:
        before = {process: first_lines(process, 2) for process in (log, documents)}
        farm.finish(farm.work())
        for process in (log, documents):
            output, errors = process.communicate(timeout=60)
            assert (process.returncode, errors) == (0, "")
            lines = before[process] + str(output).splitlines()
            assert len(lines) > 2
            if process is log:
                assert all(line.startswith(f"{NAME}: ") for line in lines)
                assert "100.0% of the work" in lines[-1]
                assert "100.0%" not in lines[0]
            else:
                overviews = [converted(json.loads(line), Overview) for line in lines]
                done = [overview.tasks.done for overview in overviews]
                assert done == sorted(done)
                assert overviews[-1].count == COUNT


@pytest.mark.exhaustive
def test_watching_goes_on_while_the_server_is_away(long_farm: Farm) -> None:
    with watching(long_farm, joining(long_farm)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(f"{NAME}: 0.0% of the work")
        long_farm.server.kill()
        long_farm.server.wait()
        assert "asking again" in process.stderr.readline()
        long_farm.server = long_farm.serve()
        for _ in range(30):
            line = process.stdout.readline()
            assert line.startswith(f"{NAME}: 0.0% of the work"), line or process.communicate(timeout=30)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 0


def test_watching_on_a_terminal(long_farm: Farm) -> None:
    """It draws again and again, fits, and gives the terminal back on Ctrl-C."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {key: value for key, value in ENVIRONMENT.items() if key not in ("COLUMNS", "NO_COLOR")}
    with os.fdopen(os.dup(terminal), "w") as end:
        process = preloaded().start(
            ["status", NAME, "--watch"],
            long_farm.folder,
            {**environment, "TERM": "xterm"},
            end,
            end,
            start_new_session=True,
            prepare=SOON,
            stdin=terminal,
        )
    with process:
        os.close(terminal)
        shown = b""
        deadline = time.monotonic() + 60
        while shown.count(b"L(2,19) by polyphase") < 4 and time.monotonic() < deadline:
            shown += os.read(master, 65_536)
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):  # the terminal ends with its last process
            while part := os.read(master, 65_536):
                shown += part
        os.close(master)
        assert process.wait(30) == 0
    text = shown.decode()
    assert "\x1b[?1049h" in text  # the other screen, and back
    after = text.rpartition("\x1b[?1049l")[2]
    assert f"{NAME}: L(2,19) by polyphase at depth 16" in after  # what was seen last stays
    assert "; continue with `langford run`" in after
    assert "Traceback" not in text
