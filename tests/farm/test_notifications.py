"""What operators are told: by a real server and real commands, which fail at first."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from db import Campaign, Ledger
from db.look.overview.shared import Shared
from db.states import Outcome
from jobs.show.hooks import CommandHook, NotDelivered
from jobs.show.notifications import Notifier
from tests.support.campaigns import HOUR, NAME, TASKS, delivery, finish, forged, new_campaign
from tests.support.clock import MovableClock
from tests.support.command_line import Run
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol
from tests.support.servers import Server

FIELDS = {"id", "kind", "campaign", "uuid", "problem", "at", "text", "tasks"}


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        yield new_campaign(ledger)


def write_hook(folder: Path, program: str) -> str:
    """A program of Python as a hook; returns the command."""
    (folder / "hook.py").write_text(program)
    return f"'{sys.executable}' '{folder / 'hook.py'}'"


class Memory(CommandHook):
    """A command that keeps what it is told, and fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        super().__init__("true")
        self.documents: list[dict[str, Any]] = []
        self._failures = failures

    @property
    def kinds(self) -> list[str]:
        return [document["kind"] for document in self.documents]

    def notify(self, document: bytes) -> None:
        if self._failures:
            self._failures -= 1
            raise NotDelivered("it is away")
        self.documents.append(json.loads(document))


class Told:
    """What a process that has just started tells, looking now and then.

    Attributes:
        clock: is moved by the test.
        hook: was told.
        said: of it, by the process.
    """

    def __init__(self, campaign: Campaign, hook: Memory | None = None) -> None:
        self.clock, self.hook, self.said = MovableClock(), hook or Memory(), list[str]()
        shared = Shared(campaign.reader.overview, now=self.clock.monotonic)
        self._notifier = Notifier(
            {campaign: shared}, self.hook, lambda words, _: self.said.append(words), 900.0, self.clock
        )

    def after(self, seconds: float) -> list[str]:
        """The kinds that are told when so much time has passed."""
        self.hook.documents.clear()
        self.clock.move(seconds)
        self._notifier.look()
        return self.hook.kinds


def test_a_command_that_fails_is_told_again_each_minute(campaign: Campaign) -> None:
    finish(campaign, "a")
    told = Told(campaign, Memory(failures=3))
    assert [told.after(seconds) for seconds in (0, 60, 59, 1, 59, 1)] == [[], [], [], [], [], ["done"]]
    assert told.said == [
        "true was not notified of 'done': it is away; trying again",
        "true was notified of 'done'",
    ]
    [document] = told.hook.documents
    assert set(document) == FIELDS
    assert (document["kind"], document["campaign"], document["uuid"]) == ("done", NAME, campaign.uuid)
    assert (document["tasks"]["done"], document["tasks"]["total"]) == (TASKS, TASKS)
    assert told.after(5000) == []


def test_stalls_are_told_once_each(campaign: Campaign) -> None:
    told = Told(campaign)
    [held] = campaign.worker.lease("a", 1, HOUR)
    assert told.after(0) == []
    assert told.after(5000) == []  # someone works
    campaign.worker.end([held])
    assert told.after(1) == []
    assert told.after(898) == []
    assert told.after(1) == ["stalled"]
    assert told.after(5000) == []
    [lease] = campaign.worker.lease("a", 1, HOUR)
    campaign.worker.deliver([delivery(lease, campaign.plan.evaluate(lease.index))])
    assert told.after(20) == []
    assert told.after(900) == ["stalled"]  # once more


def test_each_kind_of_warning_is_told_once_by_a_process_while_it_holds(campaign: Campaign) -> None:
    told = Told(campaign)
    late = campaign.worker.lease("a", TASKS, -1.0)

    def fail() -> None:
        for _ in range(3):
            [lease] = campaign.worker.lease("b", 1, HOUR)
            campaign.worker.end([lease], Outcome.FAILED, "it breaks")

    fail()
    assert told.after(0) == ["set_aside"]
    assert "failed by b on host-b" in told.hook.documents[0]["text"]
    campaign.operator.reopen()
    assert told.after(20) == []
    fail()
    assert told.after(20) == []
    assert told.after(20) == ["set_aside"]  # anew, a minute after the first
    campaign.operator.reopen()
    finish(campaign, "b")
    first, *others = [delivery(each, forged(each.index)) for each in late]
    campaign.worker.deliver([first])
    assert told.after(20) == ["conflict"]
    campaign.worker.deliver(others)
    assert told.after(20) == []
    assert told.after(50) == ["conflict"]
    [conflict] = told.hook.documents
    assert f"{TASKS} tasks have results that disagree" in conflict["text"]
    enrol(Ledger(campaign.database.where), "c", "host-c", "1")
    finish(campaign, "c")
    assert "distrusted" in told.after(20)
    assert any("host-a" in document["text"] for document in told.hook.documents)
    assert told.after(5000) == []


def test_another_process_tells_what_still_holds_with_the_same_id(campaign: Campaign) -> None:
    finish(campaign, "a")
    first, second = Told(campaign), Told(campaign)
    assert first.after(0) == second.after(0) == ["done"]
    [mine], [other] = first.hook.documents, second.hook.documents
    assert mine["id"] == other["id"]


# -- run --------------------------------------------------------------------------------------


def test_a_run_tells_that_it_is_done_before_it_ends(langford: Run, tmp_path: Path) -> None:
    """Its command fails at first."""
    program = "import os, sys\nif not os.path.exists('tried'): sys.exit(open('tried', 'w').write('') or 1)\n"
    hook = write_hook(tmp_path, f"{program}open('told', 'a').write(sys.stdin.read() + chr(10))\n")
    done = langford("run", "langford", "8", "--depth", "4", "--notify-command", hook)
    assert (done.returncode, "L(2,8) = 150" in done.stdout) == (0, True), done.stderr
    assert json.loads((tmp_path / "told").read_text())["kind"] == "done"


def test_a_run_does_not_fail_with_its_hook(langford: Run, tmp_path: Path) -> None:
    hook = write_hook(tmp_path, "import sys\nsys.exit('no \\x1b[31m mail')\n")
    last = {"langford.cli.options.notifying:LAST_SECONDS": 2.0}
    done = langford("run", "langford", "8", "--depth", "4", "--notify-command", hook, values=last)
    assert done.returncode == 0
    assert "exit code 1: no \\x1b[31m mail" in done.stderr


@pytest.mark.exhaustive
def test_a_command_that_does_not_end_is_killed_with_the_server(campaign: Campaign, tmp_path: Path) -> None:
    """Nothing that it has started outlives the server, which says that nobody was notified."""
    finish(campaign, "a")
    pids = tmp_path / "pids"
    program = (
        "import os, subprocess, sys\n"
        "rest = 'import time; time.sleep(1000)'\n"
        "child = subprocess.Popen([sys.executable, '-c', rest])\n"
        f"print(os.getpid(), child.pid, file=open({str(pids)!r}, 'a'), flush=True)\n"
        "exec(rest)\n"
    )
    with Server(tmp_path, NAME, "--notify-command", write_hook(tmp_path, program)) as server:
        server.wait_until(pids.exists)
        said = server.stop()
    assert re.search("was not notified of 'done': .*this program ends; the next", said), said
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
