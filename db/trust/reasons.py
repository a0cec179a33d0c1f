"""Why a worker gets no task: one pure function of what is known, which leases and explanations ask alike."""

from __future__ import annotations

from dataclasses import dataclass

from db.errors import TooManyLeases
from db.trust.holding import MAX_FRUITLESS


@dataclass(frozen=True)
class Token:
    """What its token leaves to a worker."""

    is_fruitless: bool  # whether its many last leases brought nothing
    room: float  # how many more tasks its workers may hold
    any_left: bool  # whether its workers could get one, if they may hold it


def refusal(token: Token) -> TooManyLeases | None:
    """Why the workers with a token get no tasks; None: they do, if there are any."""
    if token.is_fruitless:
        return TooManyLeases(
            f"the last {MAX_FRUITLESS:,} leases of the workers with this token brought no result: they get more "
            "tasks once one of them delivers; if workers are preempted before a task is done, create the campaign "
            "with a larger --depth"
        )
    if token.room < 1 and token.any_left:
        return TooManyLeases(
            "the workers with this token hold their share of the tasks that are left, which all tokens share "
            "alike: they get more tasks once they deliver results"
        )
    return None
