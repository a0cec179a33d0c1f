"""Names of campaigns: addresses, file names, scripts and tables contain them without quotes."""

from __future__ import annotations

import re

from db.errors import BadName

MAX_NAME = 100
NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{MAX_NAME - 1}}}")


def require_name(name: str) -> str:
    """The name itself, if a campaign may have it; raises BadName."""
    if not NAME.fullmatch(name):
        raise BadName(
            f"a campaign cannot be called {name!r:.120}: take 1 to {MAX_NAME} letters (a-z, A-Z), digits "
            "and . _ -, the first a letter or digit"
        )
    return name


def require_new_name(name: str) -> str:
    """As :func:`require_name`, for a new name: a number would be taken for n by `langford run`."""
    if name.isdecimal():
        raise BadName(f"a campaign cannot be called by a number, which is n for `langford run {name:.20}`")
    return require_name(name)
