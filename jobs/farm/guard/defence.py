"""What defends one server: its limits, and what it keeps of its clients."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property

from jobs.farm.guard.charges import Charges
from jobs.farm.guard.door import Door
from jobs.farm.guard.hearing import Hearing
from jobs.farm.guard.limited_log import LimitedLog
from jobs.farm.guard.sessions import Sessions
from jobs.farm.guard.shares import Turns


@dataclass(frozen=True, eq=False)
class Defence:
    """The parts of one defence; those that depend on others are made when they are first asked for."""

    proxies: Collection[str] = ()  # addresses of proxies, whose X-Forwarded-For is believed
    sessions: Sessions = field(default_factory=Sessions)
    hearing: Hearing = field(default_factory=Hearing)  # whom it could not hear of late
    log: LimitedLog = field(default_factory=LimitedLog)  # for what the operator may read, and clients may not

    @cached_property
    def door(self) -> Door:
        """By which its connections come in."""
        return Door(self.turns, self.charges, self.hearing, self.log, self.proxies)

    @cached_property
    def charges(self) -> Charges:
        """What each token, and each address without one, has used of the processor."""
        return Charges()

    @cached_property
    def turns(self) -> Turns:
        """In which its event loop handles what arrives."""
        return Turns(self.charges)
