"""The sessions of browsers that have logged in to the dashboard.

A session is a random number that stands for tokens.  It gives no right of its own: its tokens are looked up at each
request, so that it ends at once when they are revoked or expire.  Sessions are kept in the memory of the server, so
that a restart ends them.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from jobs.clock import SYSTEM, Clock
from jobs.farm.guard.bounds import SESSION_SECONDS, SESSIONS, SESSIONS_OF_A_TOKEN, TOKENS_OF_A_SESSION


@dataclass(frozen=True)
class Session:
    """What a browser that has logged in may use, and until when."""

    tokens: Sequence[str]  # newest first
    ends: float


class Sessions:
    """Used on the event loop only."""

    def __init__(self, most: int = SESSIONS, of_a_token: int = SESSIONS_OF_A_TOKEN, clock: Clock = SYSTEM) -> None:
        """A session beyond ``of_a_token`` ends the oldest of its token; one beyond ``most`` the oldest of all."""
        self._most, self._most_of_a_token, self._clock = most, of_a_token, clock
        # By identifier, ordered by age.
        self._open: dict[str, Session] = {}

    def begin(self, tokens: Sequence[str]) -> str:
        """The identifier of a new session of some tokens, newest first: as many as a session may have."""
        now = self._clock.monotonic()
        self._open = {identifier: session for identifier, session in self._open.items() if now < session.ends}
        of_the_token = [known for known, session in self._open.items() if session.tokens[0] == tokens[0]]
        if len(of_the_token) >= self._most_of_a_token:
            self.end(of_the_token[0])
        elif len(self._open) >= self._most:
            self.end(next(iter(self._open)))
        identifier = secrets.token_urlsafe(32)
        self._open[identifier] = Session(tokens[:TOKENS_OF_A_SESSION], now + SESSION_SECONDS)
        return identifier

    def tokens(self, identifier: str) -> list[str]:
        """The tokens of a session, newest first; none when it has ended or never was."""
        session = self._open.get(identifier)
        return [] if session is None or self._clock.monotonic() >= session.ends else list(session.tokens)

    def end(self, identifier: str) -> None:
        self._open.pop(identifier, None)
