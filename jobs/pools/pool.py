"""What every kind of pool of workers can do, and the news that it has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from langford.result import Evaluation

PREFETCH = 2
"""Tasks that a worker holds at most: while it evaluates one, the next one already waits for it."""


@dataclass(frozen=True)
class Finished:
    """A worker evaluated the task that was submitted with this token."""

    token: int
    evaluation: Evaluation


@dataclass(frozen=True)
class Failed:
    """The evaluation of the task with this token raised an error; its worker lives."""

    token: int
    reason: str


@dataclass(frozen=True)
class Died:
    """A worker died, with the tasks of these tokens."""

    tokens: tuple[int, ...]
    reason: str
    evaluated: int | None  # token of the task that it evaluated; None: none


class Pool(Protocol):
    """Workers that evaluate tasks of one plan."""

    @property
    def idle_slots(self) -> int:
        """How many more tasks the workers can take now."""

    @property
    def idle_workers(self) -> int: ...

    @property
    def in_flight(self) -> list[int]:
        """Tokens of all submitted tasks whose outcome is not known yet."""

    @property
    def computing(self) -> dict[int, int | None] | None:
        """By token the steps that the evaluation of each task has made; None where its worker has not begun it.

        None: the pool does not tell when it begins a task.
        """

    @property
    def compiles(self) -> bool:
        """Whether a worker compiles kernels now, before its first task."""

    def kill(self, token: int, reason: str) -> None:
        """End the worker that evaluates a task, or should; :meth:`poll` reports that it died of this reason.

        Args:
            token: of the task, see :meth:`submit`.
            reason: for people.

        Raises MachineFailed where one worker cannot be ended alone.
        """

    def submit(self, token: int, index: int) -> None:
        """Give a task to the least busy worker; call it only when there are idle slots.

        Args:
            token: the caller's number for the task, unique among the tasks in flight.
            index: of the task in the plan.
        """

    def poll(self, timeout: float | None) -> Iterator[Finished | Failed | Died]:
        """All news of the workers.

        Args:
            timeout: seconds to wait for the first; None: no limit.
        """

    def stop(self) -> None: ...
