"""An open database with a ledger: its engine and its transactions."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import cached_property, wraps
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import ParamSpec, TypeVar
from urllib.parse import parse_qsl

from sqlalchemy import Connection, Engine, event, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from db.errors import LedgerUnusable, NoLedger, TransactionUndone
from db.schema import models
from db.store import connections, revision
from db.store.damage import hold_undamaged
from db.store.places import (
    Place,
    create_private,
    holds_commits,
    new_file,
    refuse_network_file_system,
    refuse_to_replace,
    waiting_beside,
)
from db.store.translation import translated_errors
from langford.version import install

SCHEME, OPTION = re.compile(r"(?:\w[\w+.-]*:/+)?"), re.compile("password=", re.IGNORECASE)
"""The scheme of an address, and what is before a password in its options."""
TRIALS, FIRST_PAUSE_SECONDS = 6, 0.02
"""Trials of a transaction that the database undoes, and the longest pause after the first trial."""
NO_FILE = {None, "", ":memory:"}
"""Names for which SQLite keeps the database in memory, or in a temporary file."""
SQLITE_OPTIONS = {"timeout"}
"""Options that may follow the ? of a SQLite URL."""
SEVERAL_HOSTS = re.compile(r"(postgresql://(?:[^@/?]*@)?)([^@/?]*,[^@/?]*)(/[^?]*)?(?:\?(.*))?")
NO_OPTIONS: Mapping[str, object] = MappingProxyType({})
P = ParamSpec("P")
T = TypeVar("T")


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
        "file or a database; `langford status`, `work` and `slurm` take the address of a server"
    )


def retried(method: Callable[P, T]) -> Callable[P, T]:
    """Repeat a method, which is one transaction, when the database undid it because of a deadlock."""

    @wraps(method)
    def repeated(*arguments: P.args, **options: P.kwargs) -> T:
        for trial in range(TRIALS - 1):
            try:
                return method(*arguments, **options)
            except TransactionUndone:
                time.sleep(random.uniform(0, FIRST_PAUSE_SECONDS * 2**trial))
        return method(*arguments, **options)

    return repeated


class Database:
    """A database with a ledger's schema.  Its methods raise the errors of :mod:`db.errors`.

    Attributes:
        where: the file name or database URL as it was given, without passwords.
        now: a monotonic clock of this process, in seconds: when it last looked at something, or noted it.  All
            times in the ledger are by the clock of the database (:class:`db.schema.dialects.Now`).
    """

    def __init__(self, where: str, create: bool = False, now: Callable[[], float] = time.monotonic) -> None:
        """Open ``where``, a file name or database URL.

        ``create``: whether an empty or absent database becomes a new ledger.
        """
        self.where, self.now = without_password(_named(where)), now
        self.engine = _engine_of(where, create)
        # The threads of a process take turns: SQLite itself polls, and would let some of them wait too long.
        self._turn = Lock() if self.engine.dialect.name == "sqlite" else nullcontext()
        try:
            file = _file_of(self.engine.url)
            if create and file is not None:
                create_private(file)
            with translated_errors(self.where):
                revision.require_schema(self.engine, self.where, create)
            self._place = None if file is None else Place(file)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def upgrade(where: str) -> Path | None:
        """Bring a ledger to the schema of this version; see :func:`db.schema.upgrading.upgrade`."""
        engine, named = _engine_of(where, create=False), without_password(where)
        try:
            with translated_errors(named):
                return revision.upgrade(engine, named)
        finally:
            engine.dispose()

    @staticmethod
    @contextmanager
    def filling(where: str) -> Iterator[Connection]:
        """One transaction in which an empty or absent database becomes a ledger, or an empty ledger is filled.

        Nothing is kept after an error or a kill: a new file has its name when it is complete.
        """
        named, url = without_password(where), _url_of(where)
        engine = _engine_of(where, create=True)
        with new_file(_file_of(url)) as unfinished:
            if unfinished is not None:
                create_private(unfinished)
                engine = _engine_of(str(unfinished), create=True)
            try:
                with translated_errors(named), revision.filling(engine, named) as connection:
                    yield connection
            finally:
                engine.dispose()

    @cached_property
    def uuid(self) -> str:
        """The ledger's random UUID, which its copies share."""
        with self.reading() as connection:
            return connection.execute(select(models.Ledger.uuid)).scalar_one()

    @property
    def folders(self) -> dict[str, Path]:
        """The folder of the ledger's file, whose disk may fill up; none if that cannot happen here."""
        file = _file_of(self.engine.url)
        return {} if file is None else {"the ledger": file.parent}

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction that may write: committed at the end of the block, undone by an exception."""
        with translated_errors(self.where), self._turn, self.engine.begin() as connection:
            self._require_place()
            yield connection

    @contextmanager
    def reading(self, snapshot: bool = False, options: Mapping[str, object] = NO_OPTIONS) -> Iterator[Connection]:
        """One transaction that reads; with ``snapshot``, all its statements see the same state of the database.

        ``options``: further options of the connection, for the dialect of this database.
        """
        seen = connections.SNAPSHOT[self.engine.dialect.name] if snapshot else {}
        with translated_errors(self.where), self.engine.connect() as connection:
            connection = connection.execution_options(read_only=True, **seen, **options)
            with connection.begin():
                self._require_place()
                yield connection

    def _require_place(self) -> None:
        """Raises LedgerUnusable when commits would go to a file that is no longer in its place."""
        if self._place is not None:
            self._place.require()

    def close(self) -> None:
        self.engine.dispose()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _named(where: str) -> str:
    """The name of a ledger itself; raises LedgerUnusable where it cannot be one."""
    if not isinstance(where, str) or "\0" in where:
        raise LedgerUnusable(f"{where!r:.120} is no name of a file and no URL: give one of these as text")
    return where


def _engine_of(where: str, create: bool) -> Engine:
    url = _url_of(where)
    file = _file_of(url)
    try:
        archive = file is not None and _is_archive(file)
        if file is not None and not archive:
            _require_room(file, create)
    except OSError as error:  # such as a name that is too long
        if error.filename is None:  # the working folder is gone
            raise
        raise LedgerUnusable(
            f"{without_password(str(file))!r:.120} cannot be a ledger ({error.strerror}): choose another file"
        ) from error
    try:
        engine = connections.new_engine(url, archive)
    except ModuleNotFoundError as error:
        raise LedgerUnusable(f"{error.name} is missing: {install('postgres')}") from error
    except (TypeError, ValueError) as error:
        raise LedgerUnusable(
            f"cannot use the ledger {without_password(where)} ({error}): change the options after the ?"
        ) from error
    if file is not None and not archive:
        release = hold_undamaged(file)
        event.listen(engine, "engine_disposed", lambda _: release(), once=True)
    return engine


def _require_room(file: Path, create: bool) -> None:
    """Raises LedgerUnusable unless a ledger can be opened or created in this file."""
    named = without_password(str(file))  # it may be the address of a database without its scheme
    if file.exists() and not file.is_file():
        raise LedgerUnusable(f"{named} is not a file: choose another one with --ledger")
    refuse_network_file_system(file)
    refuse_to_replace(file)
    if not file.parent.is_dir():
        raise LedgerUnusable(f"the folder {without_password(str(file.parent))} does not exist; create it first")
    if not create and not file.exists():
        raise NoLedger(f"there is no ledger {named}; `langford run` creates one")


def _file_of(url: URL) -> Path | None:
    """The file that keeps a ledger; None: a server keeps it, or it is an archive, which does not change."""
    # Only an archive is opened by a URI.
    in_file = url.get_backend_name() == "sqlite" and "uri" not in url.query
    return Path(url.database) if in_file and url.database else None


def _is_archive(file: Path) -> bool:
    """Whether a file can only be read here and contains all commits: it is read without locks."""
    # First whether it exists: a file that another process is creating is no archive.
    if not file.is_file() or (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)):
        return False
    return not holds_commits(waiting_beside(file))


def _url_of(where: str) -> URL:
    """Raises LedgerUnusable."""
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
