"""The socket of the task server."""

from __future__ import annotations

import socket

from jobs.farm.guard.listening import socket_of


def test_answers_do_not_wait_for_acknowledgements() -> None:
    with socket_of("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()) as client:
        accepted, address = listener.accept()
        with accepted:
            assert address == client.getsockname()
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
