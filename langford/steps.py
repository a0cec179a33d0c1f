"""How far a computation is, in steps that another process may read: a step is one call of a kernel.

An evaluator counts its steps; whoever wants to know them says where.  Nobody needs to.
"""

from __future__ import annotations

from typing import Protocol


class Numbers(Protocol):
    """A list of integers, or shared memory that looks like one."""

    def __getitem__(self, position: int) -> int: ...

    def __setitem__(self, position: int, value: int) -> None: ...


class Steps:
    """A counter of this process's steps, kept where others may read it."""

    def __init__(self) -> None:
        self._numbers: Numbers = [0]
        self._position = 0

    def count_in(self, numbers: Numbers, position: int) -> None:
        """Count in one of some numbers from now on."""
        self._numbers, self._position = numbers, position

    def made(self) -> None:
        """Count one step.  Of two threads that do so at once, one may be forgotten."""
        self._numbers[self._position] += 1


STEPS = Steps()
"""The counter of this process."""
