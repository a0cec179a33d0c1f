"""How long tokens are valid, and the token that a server makes for its workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import db
from db.errors import LedgerError
from db.states import Role
from jobs.clock import SYSTEM, Clock, repeated
from jobs.farm.entrance import Entrance
from jobs.reach.join import HEADING, Join, NotAJoinFile
from langford.errors import BadInput
from langford.words import DAY_SECONDS

VALID_DAYS = 30.0
VALID_SECONDS = VALID_DAYS * DAY_SECONDS
"""How long a new token is valid: one that was lost opens nothing for ever, though nobody noticed.

The token that a server made for its workers is extended while it serves.  So a campaign may take longer, and the
token of one that was given up expires.
"""
EXTENDED_SECONDS = DAY_SECONDS


@contextmanager
def worker_joins(campaign: db.Campaign, file: Path, entrance: Entrance, clock: Clock = SYSTEM) -> Iterator[None]:
    """Have a join file for workers, and extend its token while the block runs.

    Args:
        campaign: of a ledger.
        file: it keeps the token that an earlier server wrote there.
        entrance: of the server.
        clock: measures when to extend it.

    Raises BadInput when the file is no join file of this campaign.
    """
    before = token_of_join(campaign, file)
    token = before or campaign.operator.new_token(Role.WORKER, VALID_SECONDS, "serve")
    join = Join([f"{address}/{campaign.name}" for address in entrance.addresses], token, entrance.trusted)
    with revoked_unless_kept(campaign, None if before else token):
        join.write(file)

    def extend() -> None:
        with suppress(LedgerError):  # the next time is a day later: the token is valid long enough
            campaign.operator.extend(token, VALID_SECONDS)

    with repeated(extend, EXTENDED_SECONDS, "token", clock):
        yield


def token_of_join(campaign: db.Campaign, file: Path) -> str | None:
    """The token in an earlier join file, which is extended; None where the file is absent or was cut.

    Raises BadInput.
    """
    if not file.exists():
        return None
    try:
        token = Join.read(file).token
    except NotAJoinFile:
        with file.open("rb") as stream:
            if HEADING.encode().startswith(stream.read(len(HEADING))):
                return None
        raise BadInput(
            f"{file} is not a join file, and is not replaced: move it, or give another file for --join"
        ) from None
    if not campaign.operator.extend(token, VALID_SECONDS):
        raise BadInput(
            f"the token in {file} does not belong to {campaign.name}, or was revoked: delete the file, so that a "
            "new one is written, or give another file for --join"
        )
    return token


@contextmanager
def revoked_unless_kept(campaign: db.Campaign, token: str | None) -> Iterator[None]:
    """If the block, which keeps a new token in a file, fails, the token is revoked: no one has received it."""
    try:
        yield
    except BaseException:
        if token is not None:
            campaign.operator.revoke(token)
        raise
