"""Ranks of one process, a thread each, for what would otherwise need mpirun."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")


class _Board:
    """Where the ranks of one communicator leave what the others read.

    Attributes:
        boards: those of all communicators of a program.
    """

    def __init__(self, size: int, boards: list[_Board]) -> None:
        self.barrier = threading.Barrier(size)
        self.places: list[Any] = [None] * size
        self.boards = boards
        boards.append(self)

    def share(self, rank: int, value: Any) -> list[Any]:
        self.places[rank] = value
        self.barrier.wait(60)
        shared = list(self.places)
        self.barrier.wait(60)
        return shared

    def abort(self) -> None:
        """Raises BrokenBarrierError at every rank that waits for another one."""
        for board in self.boards:
            board.barrier.abort()


class ThreadRanks:
    """Implements langford.irregular.graphs.partition.Communicator."""

    def __init__(self, board: _Board, rank: int, size: int) -> None:
        self._board, self.rank, self.size = board, rank, size

    def split(self, colour: int, key: int) -> ThreadRanks:
        everyone = self._board.share(self.rank, (colour, key, self.rank))
        mine = sorted((theirs, rank) for other, theirs, rank in everyone if other == colour)
        members = [rank for _, rank in mine]
        first = self.rank == members[0]
        boards = self._board.share(self.rank, _Board(len(members), self._board.boards) if first else None)
        return ThreadRanks(boards[members[0]], members.index(self.rank), len(members))

    def all_gather(self, part: Any, whole: Any) -> None:
        shared = self._board.share(self.rank, part.copy())
        whole[...] = np.concatenate(shared)

    def exchange(self, arrays: list[Any]) -> list[Any]:
        return [theirs[self.rank].copy() for theirs in self._board.share(self.rank, arrays)]

    def merge(self, array: Any, by: str) -> Any:
        operator = {"or": np.bitwise_or, "max": np.maximum, "sum": np.add}[by]
        return reduce(operator, self._board.share(self.rank, array.copy()))


def on_threads(size: int, program: Callable[[ThreadRanks], Result]) -> list[Result]:
    """What the program returns at every rank; raises what it raises at one of them."""
    board = _Board(size, [])

    def run(rank: int) -> Result:
        try:
            return program(ThreadRanks(board, rank, size))
        except BaseException:
            board.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        running = [pool.submit(run, rank) for rank in range(size)]
        errors = [error for each in running if (error := each.exception(120))]
    if errors:
        # Those that waited for a rank in vain say less than that rank.
        raise min(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError))
    return [each.result() for each in running]
