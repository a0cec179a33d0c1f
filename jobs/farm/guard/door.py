"""The door of the task server: who comes in, who waits, and who gives way.

A connection whose other end has said nothing costs nothing but its file.  Those that have spoken are let in one at
a time, at the turns of strangers, and few are in until they show a valid token: the newest waits.  Addresses take
turns, so that none keeps the others waiting.  Who has waited for so long that it gives up before it is answered
goes after those who have not: the time for its handshake would be lost.

When all connections are taken, or all that a token may have, the holder of the most gives one up: a token the one
that it has not used for longest, which is most likely that of a worker that has gone; strangers at an address the
newest.  So nobody takes the place of those who hold fewer, and a new connection always finds one.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import select
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Protocol

from jobs.farm.guard.addresses import network_of
from jobs.farm.guard.bounds import (
    CONNECTIONS_OF_A_TOKEN,
    HANDSHAKE_PROCESSOR_SECONDS,
    HEADER_SECONDS,
    MAX_FILES,
    NEWCOMER_SECONDS,
    STRANGERS,
    STRANGERS_OF_AN_ADDRESS,
    WAIT_SECONDS,
)
from jobs.farm.guard.charges import Charges, Payer
from jobs.farm.guard.hearing import Hearing
from jobs.farm.guard.limited_log import LimitedLog
from jobs.farm.guard.shares import Turns

ACCEPT_AGAIN_SECONDS = 1.0
"""How long nothing is accepted after the system has refused a file."""
LOOKED_AT = 8
"""How many of an address are looked at for one that has waited for a short time only."""
THIS_SERVER = "this server"


class Inside(Protocol):
    """What a connection is once it is in.

    Attributes:
        busy: whether a whole request has arrived on it and is not answered yet.
    """

    @property
    def busy(self) -> bool: ...

    def abort(self) -> None: ...


class Guest:
    """A connection from the moment when it is accepted.

    Attributes:
        client: its other end.
        address: that end's, see :func:`jobs.farm.guard.addresses.network_of`.
        payer: who is charged for what arrives: the address, or the last valid token that came.
        end: our end, while it waits.
        spoke: when it began to speak, by the clock of the event loop.
        timer: of the time that it has to speak.
        coming: its TLS handshake, while that goes on.
        inside: what it is once it is in.
        is_in: whether it counts as a stranger who is in.
    """

    def __init__(self, client: tuple[str, int], end: socket.socket | None = None) -> None:
        self.client, self.address, self.end = client, network_of(client[0]), end
        self.payer = Payer.stranger(self.address)
        self.timer: asyncio.TimerHandle | None = None
        self.coming: asyncio.Task[None] | None = None
        self.inside: Inside | None = None
        self.is_in, self.spoke = False, math.inf

    @property
    def busy(self) -> bool:
        return self.inside is not None and self.inside.busy

    @property
    def has_left(self) -> bool:
        """Whether its other end has given up while it waited: a handshake would be for nothing."""
        looking = select.poll()
        looking.register(self.end, select.POLLRDHUP)  # type: ignore[arg-type]  # it has one while it waits
        return bool(looking.poll(0))

    def abort(self) -> None:
        if self.inside is not None:
            self.inside.abort()
        elif self.coming is not None:
            self.coming.cancel()

    def stop_waiting(self) -> socket.socket | None:
        """Our end, which nobody watches any more."""
        if self.timer is not None:
            self.timer.cancel()
        end, self.end = self.end, None
        if end is not None:
            asyncio.get_running_loop().remove_reader(end.fileno())
        return end


class Door:
    """The connections of a server; used on its event loop only.

    Attributes:
        most: how many may be open.
    """

    def __init__(
        self,
        turns: Turns,
        charges: Charges,
        hearing: Hearing,
        log: LimitedLog,
        proxies: Collection[str] = (),
        strangers: int = STRANGERS,
        of_an_address: int = STRANGERS_OF_AN_ADDRESS,
        of_a_token: int = CONNECTIONS_OF_A_TOKEN,
    ) -> None:
        """``of_an_address``: strangers that are in; one of the ``proxies`` may have all of them in."""
        self._turns, self._charges, self._hearing, self._log = turns, charges, hearing, log
        self._proxies = frozenset(proxies)
        self._strangers, self._of_an_address, self._of_a_token = strangers, of_an_address, of_a_token
        self.most = MAX_FILES
        self._by_client: dict[tuple[str, int], Guest] = {}
        # By holder, ordered by their last use.
        self._held: dict[Payer, dict[Guest, None]] = {}
        # By address, ordered by whose turn it is; those who have spoken, ordered by that.
        self._waiting: dict[str, dict[Guest, None]] = {}
        self._in, self._in_all, self._rung = Counter[str](), 0, False

    # -- the listening socket ---------------------------------------------------------------------

    def open(
        self,
        listener: socket.socket,
        receive: Callable[[Guest], asyncio.BaseProtocol],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Accept connections; ``receive``: what a guest is once it is in."""
        self._listener, self._receive, self._tls = listener, receive, tls
        listener.setblocking(False)
        self._listen()

    def close(self) -> None:
        """Accept nothing more, and send away those who wait."""
        asyncio.get_running_loop().remove_reader(self._listener)
        for guest in [guest for guest in self._by_client.values() if guest.end or guest.coming]:
            self._send_away(guest)

    async def wait_closed(self) -> None:
        """Nothing: it is closed at once."""

    def _listen(self) -> None:
        if self._listener.fileno() >= 0:
            asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            end, client = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:  # the system would say so again and again
            self._log.say(THIS_SERVER, "cannot accept a connection", error)
            loop.remove_reader(self._listener)
            loop.call_later(ACCEPT_AGAIN_SECONDS, self._listen)
            return
        end.setblocking(False)
        guest = Guest(client[:2], end)
        self.arrive(guest)
        if guest.end is not None:
            loop.add_reader(end.fileno(), self._speak, guest)  # of a socket the loop would print its addresses
            guest.timer = loop.call_later(HEADER_SECONDS, self._send_away, guest)

    def _speak(self, guest: Guest) -> None:
        asyncio.get_running_loop().remove_reader(guest.end.fileno())  # type: ignore[union-attr]  # it has one while it waits
        if guest.timer is not None:
            guest.timer.cancel()
        guest.spoke = asyncio.get_running_loop().time()
        self._waiting.setdefault(guest.address, {})[guest] = None
        self._ring()

    # -- who comes in -----------------------------------------------------------------------------

    def _ring(self) -> None:
        """Have the next one come in at the turn of its address, if there is room."""
        address = None if self._rung else self._next()
        if address is not None:
            self._rung = True
            self._turns.enqueue(Payer.stranger(address), self._let_in)

    def _next(self) -> str | None:
        """The address whose turn it is; None: nobody waits, or may come in."""
        for _ in range(len(self._waiting) if self._in_all < self._strangers else 0):
            address = next(iter(self._waiting))
            if self._in[address] < self._of_an_address or address in self._proxies:
                return address
            self._waiting[address] = self._waiting.pop(address)
        return None

    def _let_in(self) -> None:
        self._rung = False
        address = self._next()
        if address is not None:
            theirs = self._waiting.pop(address)
            guest = self._first(theirs)
            del theirs[guest]
            if theirs:
                self._waiting[address] = theirs  # after all others
            if guest.has_left:
                self._send_away(guest)
                self._ring()
                return
            self.let_in(guest)
            if self._tls is not None:
                self._charges.add(guest.payer, HANDSHAKE_PROCESSOR_SECONDS)
            guest.coming = asyncio.get_running_loop().create_task(self._come(guest))
            self._ring()

    def _first(self, theirs: dict[Guest, None]) -> Guest:
        """The oldest that will not give up soon; where all will, the oldest."""
        late = asyncio.get_running_loop().time() - NEWCOMER_SECONDS
        for guest in list(itertools.islice(theirs, LOOKED_AT)):
            if guest.spoke > late or guest.has_left:
                return guest
            theirs[guest] = theirs.pop(guest)  # after all others
        return next(iter(theirs))

    async def _come(self, guest: Guest) -> None:
        seconds = None if self._tls is None else HEADER_SECONDS
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: self._receive(guest),
                guest.stop_waiting(),  # type: ignore[arg-type]  # it has one while it waits
                ssl=self._tls,
                ssl_handshake_timeout=seconds,
            )
        except (OSError, asyncio.CancelledError):  # it has left, speaks no TLS, or gives way
            self.leave(guest)
        finally:
            guest.coming = None

    # -- who holds what ---------------------------------------------------------------------------

    def arrive(self, guest: Guest) -> None:
        """Count a connection; another one, or this one, may be closed for it."""
        self._by_client[guest.client] = guest
        self._held.setdefault(guest.payer, {})[guest] = None
        if len(self._by_client) > self.most:
            holder = max(self._held, key=lambda payer: len(self._held[payer]))
            self._give_way(holder, f"the most of the {self.most:,} that this server may have (see ulimit -n)")

    def let_in(self, guest: Guest) -> None:
        """Count a stranger as in, until it shows a token or leaves."""
        guest.is_in = True
        self._in[guest.address] += 1
        self._in_all += 1

    def show(self, client: tuple[str, int], payer: Payer) -> None:
        """Note that a valid token came on a connection: it is charged from now on, and no stranger any more."""
        guest = self._by_client.get(client)
        if guest is None:
            return
        if guest.payer.is_stranger and asyncio.get_running_loop().time() > guest.spoke + WAIT_SECONDS:
            self._hearing.miss(payer)
        self._drop(guest)
        guest.payer = payer
        theirs = self._held.setdefault(payer, {})
        theirs[guest] = None
        if len(theirs) > self._of_a_token:
            self._give_way(payer, f"more than the {self._of_a_token:,} that a token may have")

    def leave(self, guest: Guest) -> None:
        """Forget a connection that is closed."""
        if self._by_client.get(guest.client) is guest:
            del self._by_client[guest.client]
            self._drop(guest)

    def _drop(self, guest: Guest) -> None:
        theirs = self._held[guest.payer]
        del theirs[guest]
        if not theirs:
            del self._held[guest.payer]
        with suppress(KeyError):
            del self._waiting[guest.address][guest]
            if not self._waiting[guest.address]:
                del self._waiting[guest.address]
        if guest.is_in:
            guest.is_in = False
            self._in[guest.address] -= 1
            self._in_all -= 1
            if not self._in[guest.address]:
                del self._in[guest.address]
            self._ring()

    def _give_way(self, holder: Payer, why: str) -> None:
        theirs = self._held[holder]
        newest = next(reversed(theirs))
        given = newest if holder.is_stranger else next((guest for guest in theirs if not guest.busy), newest)
        which = "newest one" if holder.is_stranger else "one that was not used for longest"
        self._log.say(str(holder), f"it has {len(theirs):,} connections, {why}: its {which} is closed")
        self._send_away(given)

    def _send_away(self, guest: Guest) -> None:
        end = guest.stop_waiting()
        if end is not None:
            end.close()
        self.leave(guest)
        guest.abort()
