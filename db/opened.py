"""An open ledger: its engine, and the transactions in which everything happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import Lock

from sqlalchemy import Connection

from db import engine as engines


class OpenLedger:
    """A database with a ledger's schema; raises the errors of :mod:`db.errors`."""

    def __init__(self, where: str, create: bool = False) -> None:
        """Open ``where``, a file name or database URL; ``create`` makes a new one if need be."""
        self.where = where
        self._engine = engines.open_engine(where, create)
        # The threads of one process wait in turn: SQLite's own waiting is polling, and unfair.
        self._turn = Lock() if self._engine.dialect.name == "sqlite" else nullcontext()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with engines.translated(self.where), self._turn, self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with engines.translated(self.where), self._engine.connect() as connection:
            connection = connection.execution_options(read_only=True)
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()
