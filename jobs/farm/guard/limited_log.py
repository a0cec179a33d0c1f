"""A log about clients to which each address adds only a few lines a minute."""

from __future__ import annotations

import errno
import resource
import threading

from jobs.clock import SYSTEM, Clock
from jobs.farm.guard.bounds import LINES_PER_MINUTE
from jobs.show.log_lines import LOGGER
from langford.errors import causes

LACK_SECONDS = 60.0
"""Time between two lines about a lack of files."""
MAX_ADDRESSES = 1_000


class LimitedLog:
    """A log to which each address adds few lines a minute."""

    def __init__(self, lines_per_minute: int = LINES_PER_MINUTE, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._most, self._lock = lines_per_minute, threading.Lock()
        self._minute, self._lines, self._next_lack = 0, dict[str, int](), 0.0

    def say(self, address: str, message: str, error: BaseException | None = None) -> None:
        """Write a line, unless the address has had its lines of this minute.

        An ``error`` is logged with its traceback; a lack of files in one line instead, at most once a minute.
        """
        if error is not None and lacks_files(error):
            self._say_lack()
            return
        with self._lock:
            minute = int(self._clock.monotonic() // 60)
            if minute != self._minute:
                self._minute, self._lines = minute, {}
            address = address if len(self._lines) < MAX_ADDRESSES or address in self._lines else "others"
            self._lines[address] = lines = self._lines.get(address, 0) + 1
        if lines <= self._most:
            last = " (no more lines about this address in this minute)" if lines == self._most else ""
            LOGGER.warning("%s", f"{address or 'unknown address'}: {message}{last}", exc_info=error)

    def _say_lack(self) -> None:
        with self._lock:
            now = self._clock.monotonic()
            if now < self._next_lack:
                return
            self._next_lack = now + LACK_SECONDS
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        LOGGER.warning(
            f"this server has reached its limit of open files and connections (ulimit -n is {most}): others wait; "
            "raise the limit, for example with `ulimit -n 65536`, and start the server again"
        )


def lacks_files(error: BaseException | None) -> bool:
    """Whether an error, or its cause, is a lack of file descriptors.

    >>> lacks_files(OSError(errno.EMFILE, "")), lacks_files(OSError(errno.ENOENT, "")), lacks_files(None)
    (True, False, False)
    """
    return any(
        isinstance(cause, OSError) and cause.errno in (errno.EMFILE, errno.ENFILE) for cause in causes(error)
    )
