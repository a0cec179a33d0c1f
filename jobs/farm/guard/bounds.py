"""All bounds of the task server that hold before a request is understood, by whom they are for.

The door (:mod:`jobs.farm.guard.door`) decides who comes in, the protocol how long a connection may take, and access
what is read and answered.
"""

from __future__ import annotations

# -- strangers: nobody on their connections has shown a valid token yet -----------------------

STRANGERS, STRANGERS_OF_AN_ADDRESS = 512, 64
"""Connections that are let in at a time.  The others wait, the oldest of each address first."""
HEADER_SECONDS = 10.0
"""To begin to speak, for a TLS handshake, and for the headers of a request, of whomever."""
HANDSHAKE_PROCESSOR_SECONDS = 0.002
"""What a stranger is charged for a TLS handshake."""
NEWCOMER_SECONDS = 40.0
"""After which a newcomer will soon give up (:data:`jobs.reach.requests.HANDSHAKE_SECONDS`): others go before it."""
LINES_PER_MINUTE = 10
"""Of the log, about one address."""

# -- a payer: a token, or all strangers together ----------------------------------------------

WINDOW_SECONDS = 10.0
"""After which a third of a charge is left; of those who wait, the one with the least charge is next."""
OF_A_PAYER, ALONE_SECONDS = 2, 10.0
"""Requests in flight: one that computes, and one that waits for the disk.  While others ask it is one, since two
would take turns with each step of the one that waits; a payer is alone when nobody else has asked for so long."""

# -- a token ----------------------------------------------------------------------------------

CONNECTIONS_OF_A_TOKEN = 5_000
"""One for each of its workers (:data:`db.work.pruning.MAX_WORKERS`), and some hundred for readers."""
KEPT_SECONDS = 180.0
"""How long a connection may wait for its next request: longer than a worker keeps it
(:data:`jobs.reach.requests.KEPT_SECONDS`), so that no request meets its end."""
BODIES_OF_A_TOKEN = 4
"""Bodies larger than a piece that are read or used at a time, of at most 4 MiB each."""

SESSION_SECONDS, SESSIONS_OF_A_TOKEN, TOKENS_OF_A_SESSION = 12 * 3_600, 100, 16
"""Of browsers that have logged in with it."""

# -- one connection, of whomever --------------------------------------------------------------

BODY_SECONDS, TAKING_SECONDS = 60.0, 30.0
"""For the body of a request; and for the other end to take what waits for it: a computer that was closed takes
nothing."""
UNWANTED_SECONDS = 2.0
"""For the rest of a body whose request is answered, so that the answer is received."""
MAX_HEADERS, MAX_HEADER_LINES = 16 * 1024, 100
"""Bytes and lines of a request before its body; also of what follows a body in chunks."""
PIECE = 16 * 1024
"""Bytes that are read of a connection, and then parsed at a turn: each chunk of a byte takes a microsecond."""
RECEIVED_AHEAD = 64 * 1024
"""Bytes that the system holds until they are read."""

# -- one request ------------------------------------------------------------------------------

WAIT_SECONDS = 10.0
"""For each of its two turns, on the event loop and in a thread, before it is answered 503: together less than the
patience of a worker (:data:`jobs.reach.requests.TIMEOUT_SECONDS`), so that it keeps its connection."""
MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 10, 60
"""After how long that answer asks to repeat it: as long as the others take, within these bounds."""
HEARING_SECONDS = 120.0
"""After a request that had no turn: its worker has tried again by then, and meanwhile no lease expires for it."""
SILENCE_SECONDS = 4.0
"""Without a sign of the server's own loop: it was stopped, and has heard nobody meanwhile."""

# -- all together -----------------------------------------------------------------------------

MAX_FILES, FILES_OF_ITS_OWN = 65_536, 100
"""Open files that the server asks the system for, and those that are no connections."""
BACKLOG = 2_048
"""Connections that may wait to be accepted."""
BODIES = 16
"""As BODIES_OF_A_TOKEN, of all tokens."""
WORKING, READING = 16, 4
"""Requests that use the ledger at a time; and those that wait for a status, which takes long."""
SESSIONS = 10_000
"""Of browsers that have logged in."""
REMEMBERED = 10_000
"""Addresses, payers and tokens, of each about so many; those that used least, or longest ago, are forgotten."""
