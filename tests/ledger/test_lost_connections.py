"""Runs on a real Postgres whose connections break and hang."""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url, select

from db import Ledger
from db.errors import ConnectionLost, LedgerBusy
from db.schema.models import Result
from db.states import TaskState
from db.store import silence
from tests.support.campaigns import NAME, new_campaign
from tests.support.command_line import ENVIRONMENT
from tests.support.databases import new_address, postgres
from tests.support.ports import free_port
from tests.support.servers import QUICK, Server
from tests.system import resting

RUN = [*resting.CAMPAIGN, "--workers", "1"]


class Wire:
    """A TCP port before Postgres: its connections can be cut, refused, or left without an answer.

    Attributes:
        database: the address of the ledger itself.
        address: its address through this port.
        dropped: whether what is sent is held back.
        refusing: whether new connections are refused.
        holds: set as soon as something was held back.
        refused: how many connections were refused.
    """

    def __init__(self, folder: Path) -> None:
        self.database = new_address("postgres", folder)
        url = make_url(self.database)
        self._socket = str(next(Path(str(url.query["host"])).glob(".s.PGSQL.*[0-9]")))
        self.port, self.name = free_port(), url.database
        self.address = f"postgresql://postgres@127.0.0.1:{self.port}/{self.name}"
        self.dropped = self.refusing = False
        self.holds, self.refused = threading.Event(), 0
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Break all connections that are open now."""
        for end in self._open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            inner, _ = self._listener.accept()
            if self.refusing:
                self.refused += 1
                inner.close()
                continue
            outer = socket.socket(socket.AF_UNIX)
            outer.connect(self._socket)
            self._open += [inner, outer]
            for pair in ((inner, outer), (outer, inner)):
                threading.Thread(target=self._relay, args=pair, daemon=True).start()

    def _relay(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while content := source.recv(65_536):
                while self.dropped:
                    self.holds.set()
                    time.sleep(0.05)
                target.sendall(content)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def wire(tmp_path: Path) -> Wire:
    return Wire(tmp_path)


def done(ledger: Ledger) -> int:
    """Results committed so far."""
    standings = [campaign.reader.standing() for campaign in ledger.campaigns()]
    return sum(standing.tasks.get(TaskState.DONE, 0) for standing in standings)


def wait_until(is_so: Callable[[], bool], process: Any) -> None:
    """Wait for a condition while a process runs."""
    deadline = time.monotonic() + 100
    while not is_so():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)


def wait_for(database: str, process: Any, more: int) -> None:
    """Wait until more results are committed."""
    with Ledger(database) as ledger:
        before = done(ledger)
        wait_until(lambda: done(ledger) >= before + more, process)


@pytest.mark.exhaustive
def test_a_run_survives_lost_connections(wire: Wire, tmp_path: Path) -> None:
    with resting.started([*RUN, "--ledger", wire.address], tmp_path, prepare=resting.ALONE) as process:
        wait_for(wire.database, process, 3)
        wire.cut()
        wait_for(wire.database, process, 5)
        postgres().psql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            f"WHERE datname = '{wire.name}' AND pid <> pg_backend_pid();"
        )
        wait_for(wire.database, process, 5)
        wire.refusing = True
        wire.cut()
        wait_until(lambda: wire.refused >= 2, process)
        wire.refusing = False
        resting.hurry(tmp_path)
        output, errors = process.communicate(timeout=150)
    assert process.returncode == 0, errors
    assert output.startswith(resting.ANSWER)
    assert errors.count("asking again") >= 2
    assert "the ledger is back" in errors
    with Ledger(wire.database) as ledger:
        [campaign] = ledger.campaigns()
        reader = campaign.reader
        assert reader.standing().tasks == {TaskState.DONE: campaign.tasks}
        assert reader.overview().checked.conflicts == 0


@pytest.mark.exhaustive
def test_a_run_hears_sigterm_while_its_ledger_hangs(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has computed meanwhile is not lost: the next run delivers it."""
    box = tmp_path / "box"
    monkeypatch.setitem(ENVIRONMENT, "LANGFORD_OUTBOX", str(box))
    with resting.started([*RUN, "--ledger", wire.address], tmp_path) as process:
        wait_for(wire.database, process, 3)
        wire.dropped = True
        wait_until(wire.holds.is_set, process)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)  # a ledger that is away is asked again for minutes
    assert process.returncode == 128 + signal.SIGTERM
    assert "the ledger does not answer" in errors
    assert "Traceback" not in errors
    assert re.search(r"\d results? (is|are) kept in", errors)
    wire.dropped = False
    kept = {int(file.name.partition(".")[0]) for file in box.rglob("*.result.json")}
    assert kept
    with resting.started([*RUN, "--ledger", wire.address], tmp_path, prepare=resting.ALONE) as process:
        wait_until(lambda: not list(box.rglob("*.result.json")), process)
    with Ledger(wire.database) as ledger, ledger.database.reading() as connection:
        assert kept <= {*connection.scalars(select(Result.attempt_id))}


def test_connections_notice_that_the_network_is_gone(wire: Wire) -> None:
    with Ledger(wire.address) as ledger, ledger.database.reading() as connection:
        driver = connection.connection.dbapi_connection
        assert driver is not None
        parameters = driver.info.get_parameters()
        assert parameters["keepalives_idle"] == "20"
        assert parameters["tcp_user_timeout"] == "40000"
        limits = {
            name: connection.exec_driver_sql(f"SHOW {name}").scalar()
            for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
        }
    assert limits == {
        "statement_timeout": "10min", "lock_timeout": "1min", "idle_in_transaction_session_timeout": "10min"
    }  # fmt: skip


def test_a_server_says_that_its_database_is_silent(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, and that it has answered: the connections stay, as when the database's processes are stopped."""
    monkeypatch.setitem(QUICK, "db.store.silence:SILENT_SECONDS", 0.5)
    with Ledger(wire.database, create=True) as ledger:
        new_campaign(ledger)
    with Server(tmp_path, NAME, "--ledger", wire.address) as server:
        wire.dropped = True
        server.wait_until(lambda: "no answer from the ledger" in server.log)
        time.sleep(1.0)
        wire.dropped = False
        server.wait_until(lambda: "has answered" in server.log)
        assert server.log.count("still waiting") == 1


def test_a_silence_is_said_again_after_a_lost_connection(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(silence, "SILENT_SECONDS", -1.0)

    def answer(ends: bool) -> Generator[str, None, None]:
        yield "wanted"
        if not ends:
            raise OSError("lost")

    def wait(watched: Generator[str, None, None]) -> None:
        for _ in watched:
            pass

    waiting = silence.Silence("here").watching(wait)
    for _ in range(2):
        with pytest.raises(OSError, match="lost"):
            waiting(answer(ends=False))
    waiting(answer(ends=True))
    said = ["no answer from the ledger here"] * 3 + ["the ledger here has answered"]
    assert [record.getMessage().partition(" since")[0] for record in caplog.records] == said


def test_errors_of_a_connection_say_what_they_are(wire: Wire) -> None:
    ledger = Ledger(wire.address)
    wire.refusing = True
    wire.cut()
    for _ in range(2):
        with pytest.raises(ConnectionLost, match="cannot use the ledger"):
            ledger.campaigns()
    wire.refusing = False
    assert ledger.campaigns() == []
    with pytest.raises(LedgerBusy, match="did not answer in time"):
        sleep(ledger)
    ledger.close()


def sleep(ledger: Ledger) -> None:
    """A statement that did not answer in time."""
    with ledger.database.reading() as connection:
        connection.exec_driver_sql("SET LOCAL statement_timeout = '50ms'")
        connection.exec_driver_sql("SELECT pg_sleep(5)")
