"""What a computing process shows to its parent, in memory that they share: its task, its steps, what it compiles.

The parent reads it whenever it likes, also when the process hangs.
"""

from __future__ import annotations

from jobs.pools.fork_server import SPAWN
from langford.machine.process import COMPILING, STEPS

NO_TASK = -1
TOKEN, MADE, COMPILES = 0, 1, 2


class Heartbeat:
    """The heartbeat of one computing process; it is made by the parent, and given to the process."""

    def __init__(self) -> None:
        self._numbers = SPAWN.RawArray("q", [NO_TASK, 0, 0])

    # -- in the computing process ---------------------------------------------------------

    def start(self) -> None:
        """Count the steps of this process here, and show when it compiles."""
        STEPS.count_in(self._numbers, MADE)
        COMPILING.tell(self._show_compiling)

    def _show_compiling(self, what: str | None) -> None:
        self._numbers[COMPILES] = what is not None

    def begin(self, token: int) -> None:
        self._numbers[MADE] = 0
        self._numbers[TOKEN] = token

    def end(self) -> None:
        self._numbers[TOKEN] = NO_TASK

    # -- in the parent --------------------------------------------------------------------

    def clear(self) -> None:
        """Show nothing: the process has ended, or has not begun."""
        self._numbers[:] = [NO_TASK, 0, 0]

    @property
    def token(self) -> int | None:
        """The task that is evaluated; None between two tasks, and before the first."""
        token = self._numbers[TOKEN]
        return None if token == NO_TASK else token

    @property
    def steps(self) -> int:
        return int(self._numbers[MADE])

    @property
    def compiles(self) -> bool:
        return bool(self._numbers[COMPILES])
