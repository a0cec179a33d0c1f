"""The address of a ledger: a file name or the URL of a database, what it means, and how messages show it."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from db.errors import LedgerUnusable

SCHEME, OPTION = re.compile(r"(?:\w[\w+.-]*:/+)?"), re.compile("password=", re.IGNORECASE)
"""The scheme of an address, and what is before a password in its options."""
KEYWORDS = re.compile(r"(host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=", re.IGNORECASE)
"""How an address in the other form of libpq begins: no file has such a name by chance."""
ONE_SLASH = re.compile(r"(postgres|postgresql|sqlite|https?):(?!//)", re.IGNORECASE)
PORT = re.compile(r"\w+://(?:.*@)?[^@/?:]*:([^@/?:]+)(?:[/?]|$)")
NO_FILE = {None, "", ":memory:"}
"""Names for which SQLite keeps the database in memory, or in a temporary file."""
SQLITE_OPTIONS = {"timeout"}
"""Options that may follow the ? of a SQLite URL."""
SEVERAL_HOSTS = re.compile(r"(postgresql://(?:[^@/?]*@)?)([^@/?]*,[^@/?]*)(/[^?]*)?(?:\?(.*))?")


def without_password(where: str) -> str:
    """A file name or database URL with asterisks instead of passwords, even if it is not a valid URL.

    Whatever may be part of a password is left out, so of the last of several @.

    >>> without_password("postgresql://ada:se:c/r@e?t@host/records")
    'postgresql://ada:***@host/records'
    """
    start = SCHEME.match(where).end()  # type: ignore[union-attr]  # it may be empty
    colon, at = where.find(":", start), where.rfind("@")
    option = OPTION.search(where, start)
    if 0 <= colon < at - 1 and option and option.end() <= at:
        return f"{where[:colon]}:***"  # which of them is the password, cannot be known
    if option:
        where = f"{where[: option.end()]}***"
    return f"{where[:colon]}:***{where[at:]}" if 0 <= colon < at - 1 else where


def server_instead(address: str) -> LedgerUnusable:
    """The error where a ledger, or a campaign in one, is asked for, and the address of a task server is given."""
    return LedgerUnusable(
        f"{without_password(address)} is the address of a task server, but a ledger is read here: give --ledger a "
        "file or a database; `langford status` and `work` take the join file of a server"
    )


def require_address(where: str) -> str:
    """The address itself, if it is text that can be meant; raises LedgerUnusable."""
    if not isinstance(where, str) or "\0" in where:
        raise LedgerUnusable(f"{where!r:.120} is no name of a file and no URL: give one of these as text")
    if where != where.strip():
        named = without_password(where)
        raise LedgerUnusable(
            f"the ledger {named!r:.120} begins or ends with a blank or the end of a line: leave it out in "
            "--ledger, LANGFORD_LEDGER or the file that sets it"
        )
    if KEYWORDS.match(where) or (ONE_SLASH.match(where) and not Path(where).exists()):
        raise LedgerUnusable(
            f"{without_password(where)!r} is neither a file nor a URL: write a database as "
            "postgresql://USER@HOST:PORT/NAME, and its password into ~/.pgpass"
        )
    return where


def url_of(where: str) -> URL:
    """Raises LedgerUnusable."""
    where = SCHEME.sub(lambda scheme: scheme[0].lower(), require_address(where), count=1)
    if "://" not in where and where not in NO_FILE:
        # Not parsed: the name may contain "?" or "%".
        return URL.create("sqlite", database=where)
    with suppress(ArgumentError, ValueError):
        url = make_url(_with_hosts_apart(re.sub("^postgres://", "postgresql://", where)))
        # Of several @ the last one ends the password, and SQLAlchemy takes the first.
        if url.get_backend_name() == "postgresql" and where.count("@") <= 1:
            return url.set(drivername="postgresql+psycopg")
        is_file = url.database not in NO_FILE and not (url.host or url.username)
        if url.get_backend_name() == "sqlite" and is_file:
            _require_options(where)
            return url.set(drivername="sqlite")
    if where.lower().startswith(("http://", "https://")):
        raise server_instead(where)
    if (port := PORT.match(where)) and not port[1].isdecimal():
        raise LedgerUnusable(f"the port in {without_password(where)!r} is not a number: {port[1]!r}")
    raise LedgerUnusable(
        f"{without_password(where)!r} is not a ledger: give a file name, sqlite:///FILE or postgresql://HOST/NAME "
        "(with %40 for a @ in the password)"
    )


def _with_hosts_apart(where: str) -> str:
    """A URL of Postgres whose hosts are options where there are several, as libpq allows.

    >>> _with_hosts_apart("postgresql://ada@one:5433,two/records?sslmode=require")
    'postgresql://ada@/records?host=one:5433&host=two:5432&sslmode=require'
    """
    found = SEVERAL_HOSTS.fullmatch(where)
    if found is None:
        return where
    hosts = [host if ":" in host else f"{host}:5432" for host in found[2].split(",")]
    options = "&".join([*(f"host={host}" for host in hosts), *([found[4]] if found[4] else [])])
    return f"{found[1]}{found[3] or '/'}?{options}"


def _require_options(where: str) -> None:
    """Raises LedgerUnusable for options of a SQLite URL, with some of which it does not name a file."""
    # Not the options of the parsed URL, which omits those without a value, as in a file name with a "?".
    given = {name for name, _ in parse_qsl(where.partition("?")[2], keep_blank_values=True)}
    if given - SQLITE_OPTIONS:
        raise LedgerUnusable(
            f"cannot use the ledger {without_password(where)} (a SQLite URL has no option but "
            f"{', '.join(SQLITE_OPTIONS)}): give the name of its file instead"
        )


def file_of(url: URL) -> Path | None:
    """The file that keeps a ledger; None: a server keeps it, or it is an archive, which does not change."""
    # Only an archive is opened by a URI.
    in_file = url.get_backend_name() == "sqlite" and "uri" not in url.query
    return Path(url.database) if in_file and url.database else None
