"""How the lines of a server's log are written."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import Full, Queue
from typing import TextIO

from langford.words import instant, plain, several

MAX_WAITING = 10_000
"""The maximum number of lines that wait to be written."""
LAST_SECONDS = 2.0
"""The time limit for writing the last lines."""


class TextLines(logging.Formatter):
    """Lines like "2026-11-22 20:15:03Z  eight: 2 workers joined"; the traceback of an error follows below."""

    def format(self, record: logging.LogRecord) -> str:
        campaign = getattr(record, "campaign", None)
        words = f"{campaign}: {record.getMessage()}" if campaign else record.getMessage()
        line = f"{instant(record.created)}Z  {plain(words)}"
        trace = self.formatException(record.exc_info).splitlines() if record.exc_info else []
        return "\n".join([line, *map(plain, trace)])


class LogWriter(logging.Handler):
    """Writes lines in a thread of its own, so that a stopped terminal or a full pipe blocks no other thread.

    Lines that arrive while too many wait are dropped and counted.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.setFormatter(TextLines())
        self._stream = stream
        self._waiting: Queue[str | None] = Queue(MAX_WAITING)
        self._left_out = 0
        self._thread = threading.Thread(target=self._write, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._waiting.put_nowait(self._with_those_left_out(record))
        except Full:
            self._left_out += 1

    def close(self) -> None:
        if self._thread.is_alive():
            try:
                self._waiting.put_nowait(None)
            except Full:
                pass
            else:
                self._thread.join(LAST_SECONDS)
        super().close()

    def _with_those_left_out(self, record: logging.LogRecord) -> str:
        if not self._left_out or self._waiting.full():
            return self.format(record)
        number, self._left_out = self._left_out, 0
        words = f"{several(number, 'line')} dropped here: they came faster than they could be written"
        gap = logging.makeLogRecord({"msg": words})
        return f"{self.format(gap)}\n{self.format(record)}"

    def _write(self) -> None:
        while (line := self._waiting.get()) is not None:
            try:
                self._stream.write(f"{line}\n")
                self._stream.flush()
            except OSError:
                self._left_out += 1  # a full disk may have room again
            except ValueError:
                return  # the stream is closed


@contextmanager
def written(loggers: Sequence[str]) -> Iterator[None]:
    """Write the lines of these loggers to standard error while the block runs.

    Of loggers of libraries only the errors are written.
    """
    handler = LogWriter(sys.stderr)
    for name in loggers:
        logger = logging.getLogger(name)
        logger.setLevel(logging.INFO if name.startswith("langford") else logging.ERROR)
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for name in loggers:
            logging.getLogger(name).removeHandler(handler)
            logging.getLogger(name).propagate = True
        handler.close()
