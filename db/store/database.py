"""An open database with a ledger: its engine and its transactions."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from difflib import get_close_matches
from functools import cached_property, wraps
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, event, select

from db.errors import LedgerFull, LedgerUnusable, NoLedger, TransactionUndone
from db.schema import models
from db.store import connections, revision
from db.store.addresses import file_of, require_address, url_of, without_password
from db.store.damage import hold_undamaged
from db.store.places import (
    Place,
    create_private,
    holds_commits,
    new_file,
    refuse_to_replace,
    refuse_two_names,
    refuse_unsafe_mount,
    say_if_others_read,
    waiting_beside,
)
from db.store.translation import translated_errors
from langford.version import install

TRIALS, FIRST_PAUSE_SECONDS = 6, 0.02
"""Trials of a transaction that the database undoes, and the longest pause after the first trial."""
NO_OPTIONS: Mapping[str, object] = MappingProxyType({})
P = ParamSpec("P")
T = TypeVar("T")


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
        is_full: whether the last transaction that wrote found no space.
        now: a monotonic clock of this process, in seconds: when it last looked at something, or noted it.  All
            times in the ledger are by the clock of the database (:class:`db.schema.dialects.Now`).
    """

    def __init__(self, where: str, create: bool = False, now: Callable[[], float] = time.monotonic) -> None:
        """Open ``where``, a file name or database URL.

        ``create``: whether an empty or absent database becomes a new ledger.
        """
        self.where, self.now, self.is_full = without_password(require_address(where)), now, False
        self.engine = _engine_of(where, create)
        # The threads of a process take turns: SQLite itself polls, and would let some of them wait too long.
        self._turn = Lock() if self.engine.dialect.name == "sqlite" else nullcontext()
        try:
            file = file_of(self.engine.url)
            if create and file is not None:
                create_private(file)
            with translated_errors(self.where):
                revision.require_schema(self.engine, self.where, create)
            self._place = None if file is None else Place(file)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def upgrade(where: str) -> None:
        """Bring a ledger to the schema of this version; see :func:`db.schema.upgrading.upgrade`."""
        engine, named = _engine_of(where, create=False), without_password(where)
        try:
            with translated_errors(named):
                revision.upgrade(engine, named)
        finally:
            engine.dispose()

    @staticmethod
    @contextmanager
    def filling(where: str) -> Iterator[Connection]:
        """One transaction in which an empty or absent database becomes a ledger, or an empty ledger is filled.

        Nothing is kept after an error or a kill: a new file has its name when it is complete.
        """
        named, url = without_password(where), url_of(where)
        engine = _engine_of(where, create=True)
        with new_file(file_of(url)) as unfinished:
            if unfinished is not None:
                engine.dispose()
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
    def folder(self) -> Path | None:
        """That of the ledger's file, whose disk may fill up; None: a server keeps it."""
        file = file_of(self.engine.url)
        return None if file is None else file.parent

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction that may write: committed at the end of the block, undone by an exception."""
        try:
            with translated_errors(self.where), self._turn, self.engine.begin() as connection:
                self._require_place()
                yield connection
        except LedgerFull:
            self.is_full = True
            raise
        self.is_full = False

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


def _engine_of(where: str, create: bool) -> Engine:
    url = url_of(where)
    file = file_of(url)
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
    refuse_unsafe_mount(file)
    refuse_two_names(file)
    say_if_others_read(file)
    refuse_to_replace(file)
    if not file.parent.is_dir():
        raise LedgerUnusable(f"the folder {without_password(str(file.parent))} does not exist; create it first")
    if not create and not file.exists():
        near = get_close_matches(file.name, [each.name for each in file.parent.glob(f"*{file.suffix}")])
        meant = f" (did you mean {', '.join(near)}?)" if near else ""
        raise NoLedger(
            f"there is no ledger {named}{meant}; `langford run` creates one, and so does create=True in Python"
        )


def _is_archive(file: Path) -> bool:
    """Whether a file can only be read here and contains all commits: it is read without locks."""
    # First whether it exists: a file that another process is creating is no archive.
    if not file.is_file() or (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)):
        return False
    return not holds_commits(waiting_beside(file))
