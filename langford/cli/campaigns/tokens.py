"""How long tokens are valid, and the token that a server makes for its workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import db
from db.errors import LedgerError
from db.states import Role
from jobs.clock import SYSTEM, Clock, repeated
from langford.cli.options.access import token_of
from langford.errors import BadInput
from langford.machine.durable import replace_file
from langford.words import DAY_SECONDS

VALID_DAYS = 30.0
"""How long a new token is valid: one that was lost opens nothing for ever, though nobody noticed.

The token that a server made for its workers is extended while it serves.  So a campaign may take longer, and the
token of one that was given up expires.
"""
EXTENDED_SECONDS = DAY_SECONDS


def keep_token(campaign: db.Campaign, token: str, file: Path) -> None:
    """Write a new token to a file; if that fails, the token is revoked, since no one has received it."""
    try:
        replace_file(file, f"{token}\n".encode(), private=True)
    except BaseException:
        campaign.revoke(token)
        raise


@contextmanager
def worker_token(campaign: db.Campaign, file: Path, label: str, clock: Clock = SYSTEM) -> Iterator[None]:
    """Have a worker's token in a file that only the user may read, and extend it while the block runs.

    Args:
        campaign: of a ledger.
        file: written unless it exists.
        label: of a new token.
        clock: measures when to extend it.

    Raises BadInput when the file has no token of this campaign.
    """
    if file.exists():
        token = token_of(file)
        if not campaign.extend(token, VALID_DAYS * DAY_SECONDS):
            raise BadInput(
                f"the token in {file} does not belong to {campaign.name}, or was revoked: delete the file, so that "
                "a new token is written, or give another --token-file"
            )
    else:
        token = campaign.new_token(Role.WORKER, VALID_DAYS * DAY_SECONDS, label)
        keep_token(campaign, token, file)

    def extend() -> None:
        with suppress(LedgerError):  # the next time is a day later: the token is valid long enough
            campaign.extend(token, VALID_DAYS * DAY_SECONDS)

    with repeated(extend, EXTENDED_SECONDS, "token", clock):
        yield
