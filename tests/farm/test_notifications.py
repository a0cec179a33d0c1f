"""What operators are told: by a real server and real commands, to a real receiver that fails at first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from db import Campaign, Ledger
from jobs.show.hooks import CommandHook, Hook, NotDelivered, UrlHook
from jobs.show.notifications import Notifier
from langford.errors import BadInput
from tests.support.campaigns import HOUR, NAME, TASKS, delivery, finish, forged, new_campaign
from tests.support.clock import MovableClock
from tests.support.command_line import Run
from tests.support.database_clock import moved_clock
from tests.support.databases import new_ledger
from tests.support.receivers import Receiver
from tests.support.servers import Server

FIELDS = {"id", "kind", "campaign", "uuid", "problem", "at", "text", "number", "tasks", "tasks_by_state"}


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        yield new_campaign(ledger)


def write_hook(folder: Path, program: str) -> str:
    """A program of Python as a hook; returns the command."""
    (folder / "hook.py").write_text(program)
    return f"'{sys.executable}' '{folder / 'hook.py'}'"


def notifier_of(campaign: Campaign, hook: Hook) -> tuple[Notifier, list[tuple[str, str]]]:
    """A notifier as of a server that has just started, and what it says."""
    said = list[tuple[str, str]]()
    return Notifier([campaign], hook, lambda event, words, _: said.append((event, words)), 900.0), said


def test_a_receiver_that_fails_twice_is_told_once(campaign: Campaign) -> None:
    finish(campaign, "a")
    with Receiver([500, 302]) as receiver, moved_clock() as ledger_clock:
        notifier, said = notifier_of(campaign, UrlHook(receiver.url))
        for _ in range(4):
            notifier.look(at_once=True)
            ledger_clock.move(HOUR)
        restarted, nothing = notifier_of(campaign, UrlHook(receiver.url))
        restarted.look(at_once=True)
        [done] = receiver.accepted
        assert (len(receiver.tried), receiver.headers["Content-Type"]) == (3, "application/json")
    assert [event for event, _ in said] == ["not_notified", "not_notified", "notified"]
    for expected, (_, words) in zip(("the status 500", "the status 302", "at attempt 3"), said, strict=True):
        assert expected in words
    assert not nothing
    assert set(done) == FIELDS
    assert (done["kind"], done["campaign"], done["uuid"]) == ("done", NAME, campaign.uuid)
    assert done["tasks_by_state"] == {"done": TASKS}


class Memory:
    """A hook that keeps what it is told; implements :class:`jobs.show.hooks.Hook`."""

    channel, where = "url", "memory"

    def __init__(self) -> None:
        self.documents: list[dict[str, Any]] = []

    @property
    def kinds(self) -> list[str]:
        return [document["kind"] for document in self.documents]

    def notify(self, document: bytes) -> None:
        self.documents.append(json.loads(document))

    def give_up(self) -> None:
        """Nothing is on its way."""


def test_stalls_are_told_once_each_over_restarts(campaign: Campaign) -> None:
    clock, hook = MovableClock(), Memory()

    def told_after(seconds: float, notifier: Notifier) -> list[str]:
        """What a notifier tells that looks now, and when these seconds have passed."""
        hook.documents.clear()
        notifier.look()
        clock.move(seconds)
        notifier.look()
        return hook.kinds

    def server() -> Notifier:
        return Notifier([campaign], hook, lambda *_: None, 900.0, clock)

    first = server()
    [held] = campaign.lease("a", 1, HOUR)
    assert told_after(5000, first) == []  # someone works
    campaign.release([held])
    assert told_after(899, first) == []
    assert told_after(1, first) == ["stalled"]
    assert told_after(5000, first) == []
    second = server()
    assert told_after(5000, second) == []  # it was told
    [lease] = campaign.lease("a", 1, HOUR)
    campaign.deliver([delivery(lease, campaign.plan.evaluate(lease.index))])
    assert told_after(899, second) == []
    assert told_after(1, second) == ["stalled"]  # once more


def test_each_kind_of_event_is_told_once_by_all_servers(campaign: Campaign) -> None:
    hook = Memory()
    servers = [notifier_of(campaign, hook)[0] for _ in range(2)]

    def told() -> list[str]:
        hook.documents.clear()
        for server in servers:
            server.look(at_once=True)
        return hook.kinds

    late = campaign.lease("a", TASKS, -1.0)
    for _ in range(3):
        [lease] = campaign.lease("b", 1, HOUR)
        campaign.fail(lease, "it breaks")
    assert told() == ["set_aside"]
    assert hook.documents[0]["tasks"] == [lease.index]
    campaign.reopen()
    finish(campaign, "b")
    campaign.deliver([delivery(each, forged(each.index)) for each in late])
    assert "conflict" in told()
    [conflict] = [document for document in hook.documents if document["kind"] == "conflict"]
    assert (conflict["number"], conflict["tasks"]) == (TASKS, list(range(TASKS)))
    Ledger(campaign.database.where).enrol("c", "host-c", "1")
    finish(campaign, "c")
    assert "distrusted" in told()
    assert any("host-a" in document["text"] for document in hook.documents)
    assert told() == []


def test_a_server_that_was_killed_while_it_told_leaves_that_to_the_next(campaign: Campaign) -> None:
    class Killed(Memory):
        def notify(self, document: bytes) -> None:
            raise KeyboardInterrupt

    finish(campaign, "a")
    with moved_clock() as ledger_clock:
        with pytest.raises(KeyboardInterrupt):
            notifier_of(campaign, Killed())[0].look()
        hook = Memory()
        notifier, said = notifier_of(campaign, hook)
        notifier.look()
        assert hook.kinds == []  # the other one may live
        ledger_clock.move(HOUR)
        notifier.look(at_once=True)
    assert (hook.kinds, said) == (["done"], [("notified", "memory was notified of 'done' at attempt 2")])


# -- run --------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_a_run_tells_that_it_is_done_before_it_ends(langford: Run) -> None:
    with Receiver([503, 503]) as receiver:
        for _ in range(2):
            done = langford("run", "langford", "8", "--depth", "4", "--notify-url", receiver.url)
            assert done.returncode == 0, done.stderr
            assert "L(2,8) = 150" in done.stdout
        assert receiver.kinds() == ["done"]
        assert len(receiver.tried) == 3


def test_a_run_does_not_fail_with_its_hook(langford: Run, tmp_path: Path) -> None:
    hook = write_hook(tmp_path, "import sys\nsys.exit('no \\x1b[31m mail')\n")
    last = {"langford.cli.options.notifying:LAST_SECONDS": 2.0}
    done = langford("run", "langford", "8", "--depth", "4", "--notify-command", hook, values=last)
    assert done.returncode == 0
    assert "exit code 1: no \\x1b[31m mail" in done.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize("command", [["run", "langford", "8", "--depth", "4"], ["serve", NAME]])
def test_a_command_that_does_not_end_is_killed_with_the_run(
    command: list[str], campaign: Campaign, langford: Run, tmp_path: Path
) -> None:
    """Nothing that it has started outlives the run, which says that nobody was notified."""
    finish(campaign, "a")
    pids = tmp_path / "pids"
    program = (
        "import os, subprocess, sys\n"
        "rest = 'import time; time.sleep(1000)'\n"
        "child = subprocess.Popen([sys.executable, '-c', rest])\n"
        f"print(os.getpid(), child.pid, file=open({str(pids)!r}, 'a'), flush=True)\n"
        "exec(rest)\n"
    )
    hook = ["--notify-command", write_hook(tmp_path, program)]
    if command[0] == "run":
        last = {"langford.cli.options.notifying:LAST_SECONDS": 3.0}
        done = langford(*command, *hook, values=last)
        said = done.stderr
        assert done.returncode == 0
    else:
        with Server(tmp_path, NAME, *hook) as server:
            server.wait_until(pids.exists)
            server.stop()
            said = server.log
    assert "was not notified of 'done': it was killed, because this program ends; the next" in said
    for pid in map(int, pids.read_text().split()):
        assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


# -- hooks ------------------------------------------------------------------------------------


def test_no_shell_reads_the_command_or_the_document(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(
        "import json, sys\njson.dump([sys.argv[1:], sys.stdin.read()], open(sys.argv[1], 'w'))\n"
    )
    words = [str(tmp_path / "out"), f"$(touch {tmp_path}/pwned)", f"; touch {tmp_path}/pwned", "*", "`id`"]
    quoted = " ".join(f"'{word}'" for word in words)
    document = json.dumps({"text": f"$(touch {tmp_path}/pwned); `id`"})
    CommandHook(f"{sys.executable} {tmp_path / 'hook.py'} {quoted}").notify(document.encode())
    assert json.loads((tmp_path / "out").read_text()) == [words, document]
    assert not (tmp_path / "pwned").exists()


def test_a_command_that_hangs_is_killed_with_what_it_has_started(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen(['sleep', '1000'])\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "time.sleep(1000)\n"
    )
    began = time.monotonic()
    with pytest.raises(NotDelivered, match="killed after 2 s"):
        CommandHook(write_hook(tmp_path, program), seconds=2.0).notify(b"{}")
    assert time.monotonic() - began < 20
    pid = int((tmp_path / "pid").read_text())
    state = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False)
    assert state.stdout.strip() in ("", "Z"), os.uname()


def test_a_command_may_say_more_than_a_pipe_holds(tmp_path: Path) -> None:
    noisy = "import sys\nsys.stdout.write('x' * 10**6)\nsys.stderr.write('y' * 10**6)\nsys.exit(3)\n"
    with pytest.raises(NotDelivered, match=r"exit code 3: y{300}$"):
        CommandHook(write_hook(tmp_path, noisy)).notify(b"{}")


def test_the_password_of_an_address_is_sent_and_never_said() -> None:
    with Receiver([500]) as receiver:
        hook = UrlHook(receiver.url.replace("http://", "http://ada:s%40cret@") + "?key=hidden")
        assert hook.where == "http://127.0.0.1"
        with pytest.raises(NotDelivered) as failed:
            hook.notify(b"{}")
        assert "cret" not in str(failed.value)
        assert "hidden" not in str(failed.value)
        hook.notify(b"{}")
        assert receiver.headers["Authorization"] == "Basic YWRhOnNAY3JldA=="
        assert receiver.accepted == [{}]
    with pytest.raises(NotDelivered, match="does not answer"):
        hook.notify(b"{}")


def test_no_proxy_stands_before_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Receiver() as receiver:
        UrlHook(receiver.url).notify(b"{}")
        assert receiver.accepted == [{}]
    with pytest.raises(NotDelivered, match="refused"):
        UrlHook("http://host.invalid/hook").notify(b"{}")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://host/x",
        "nonsense",
        "https:///x",
        "http://h:x/",
        "http://127.0.0.1:1/a b?key=hidden",  # http.client would quote it when it is too late
        "http://127.0.0.1:1/a\x7f?key=hidden",
    ],
)
def test_an_address_that_is_none_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(BadInput) as refused:
        UrlHook(url)
    assert url not in str(refused.value)
