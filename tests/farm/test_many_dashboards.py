"""Many dashboards at a real server: they hold no threads and no places of others, and do not delay its end."""

from __future__ import annotations

import signal
import socket
import time
from contextlib import ExitStack

import httpx
import psutil
import pytest

from db.states import Role
from jobs.farm.api.streams import MAX_OF_A_TOKEN, MAX_STREAMS
from jobs.farm.guard.connections import STRANGERS_PER_ADDRESS
from jobs.farm.guard.precedence import THREADS, Precedence
from tests.farm.farm import NAME, Farm

FILES_OF_A_CONNECTION = 3
"""Of a ledger in SQLite: its file, its log, and the index of that."""


class Dashboards:
    """Connections that listen to the stream of a farm's campaign, all with one token or some with each."""

    def __init__(self, farm: Farm, number: int, with_each: int = MAX_OF_A_TOKEN) -> None:
        self.open: list[socket.socket] = []
        for place in range(number):
            if place % with_each == 0:
                shown = f"Authorization: Bearer {farm.campaign.new_token(Role.READER)}"
            connection = socket.create_connection(("127.0.0.1", farm.port), 30)
            connection.sendall(f"GET /campaigns/{NAME}/stream HTTP/1.1\r\nHost: x\r\n{shown}\r\n\r\n".encode())
            self.open.append(connection)
            self.next_status(connection)

    def next_status(self, connection: socket.socket) -> None:
        received = b""
        while b"data: {" not in received:
            chunk = connection.recv(65_536)
            assert chunk, received
            received += chunk

    def close(self) -> None:
        for connection in self.open:
            connection.close()


def test_they_do_not_delay_the_end(farm: Farm) -> None:
    """The server ends their streams, and does not wait until it would cut them off."""
    watching = Dashboards(farm, 20)
    farm.server.send_signal(signal.SIGTERM)
    farm.server.wait(30)
    rest = [connection.recv(1_000_000) for connection in watching.open]
    watching.close()
    assert all(end.endswith(b"0\r\n\r\n") for end in rest), "each stream was ended well"


def test_a_server_ends_that_is_told_so_while_it_starts(farm: Farm) -> None:
    """The socket listens before the server has its handlers of signals."""
    for pause in (0.0, 0.1):
        farm.server.kill()
        farm.server.wait()
        farm.server = farm.serve()
        time.sleep(pause)
        farm.server.send_signal(signal.SIGTERM)
        farm.server.wait(15)


def test_they_are_no_strangers_and_hold_no_threads(farm: Farm) -> None:
    """They share the threads that strangers, readers and statuses have, and the connections that those have."""
    process = psutil.Process(farm.server.pid)
    threads, files = process.num_threads(), len(process.open_files())
    shared = THREADS[Precedence.STRANGER] + THREADS[Precedence.READER] + 1
    with ExitStack() as opened:
        watching = Dashboards(farm, 2 * STRANGERS_PER_ADDRESS)
        opened.callback(watching.close)
        assert process.num_threads() <= threads + shared
        assert len(process.open_files()) <= files + FILES_OF_A_CONNECTION * shared
        strangers = [opened.enter_context(socket.create_connection(("127.0.0.1", farm.port))) for _ in range(10)]
        headers = {"Authorization": f"Bearer {farm.token}"}
        assert httpx.get(f"http://127.0.0.1:{farm.port}/campaigns/{NAME}", headers=headers).status_code == 200
        for connection in (watching.open[0], watching.open[-1]):
            watching.next_status(connection)
        for stranger in strangers:
            stranger.setblocking(False)
            with pytest.raises(BlockingIOError):
                stranger.recv(1)


def test_one_reader_leaves_streams_for_others(farm: Farm) -> None:
    """Whoever opens more than all there are with one token ends its own, the oldest first."""
    with ExitStack() as opened:
        colleague = Dashboards(farm, 3)
        opened.callback(colleague.close)
        greedy = Dashboards(farm, MAX_STREAMS + 10, with_each=MAX_STREAMS + 10)
        opened.callback(greedy.close)
        gave_way, left = greedy.open[:-MAX_OF_A_TOKEN], greedy.open[-MAX_OF_A_TOKEN:]
        for connection in gave_way:
            rest = b""
            while not rest.endswith(b"0\r\n\r\n"):
                rest += connection.recv(65_536)
            assert b"event: crowded\ndata:\n\n" in rest
        latecomer = Dashboards(farm, 2)
        opened.callback(latecomer.close)
        for connection in (*colleague.open, left[0], left[-1], *latecomer.open):
            colleague.next_status(connection)
