"""The SQL that a ledger sends, by the function that sends it, as text to read.

A statement is printed once: a line that both databases get begins with two spaces, one that only SQLite gets with
"S ", one that only Postgres gets with "P ".
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, event

from db.store.statements import Prepared
from db.store.transaction import Transaction

P = ParamSpec("P")
T = TypeVar("T")

WIDTH = 114
MARKS = {"both": "  ", "sqlite": "S ", "postgres": "P "}
STANDS_FOR = {
    "NOW": ["((julianday('now') - 2440587.5) * 86400.0)", "extract(epoch from clock_timestamp())"],
    "IN :value": ["IN (SELECT value FROM json_each(:value))", "= ANY (:value)"],
    "LIMIT :value": ["LIMIT :value OFFSET :param", "LIMIT :value"],
}
"""What is printed the same way for both databases: text here → (text for SQLite, text for Postgres)."""
NOT_OURS = ("pg_catalog", "sqlite_master", "PRAGMA ", "BEGIN", "standard_conforming_strings", "alembic_version")
"""What SQLAlchemy asks a database about itself, the begin of SQLite's transactions, and Alembic's own table."""
CLAUSE = re.compile(
    r"\b(?:FROM|WHERE|SET|VALUES|SELECT|RETURNING|ON CONFLICT|ORDER BY|GROUP BY|LIMIT|FOR UPDATE|FOR NO KEY UPDATE|"
    r"(?:LEFT OUTER |(?<!OUTER ))JOIN|UNION|AND)\b"
)
PARAMETER = re.compile(r"%\((\w+?)(?:_+\d+)*\)s(?:::[A-Z]+(?:\(\d+\))?(?:\[\])?)?")
"""A parameter for Postgres: its name, its number and its type."""
NUMBER = re.compile(r"(?:_+\d+)+$")
PASS_ON = {Transaction.__module__, Prepared.__module__}
SHORT = 30
"""Characters within parentheses that are not worth lines of their own."""


class StatementLog:
    """Statements as they are executed, each with the names of the functions that send it.

    Attributes:
        called: the names of the operations that were called by :meth:`call`.
    """

    def __init__(self) -> None:
        self.called: set[str] = set()
        self._senders: dict[str, dict[str, None]] = {}

    def call(self, operation: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Call an operation and note its name."""
        self.called.add(name_of(operation))
        return operation(*arguments, **options)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Note what all engines of this process execute."""
        event.listen(Engine, "before_cursor_execute", self._note)
        try:
            yield
        finally:
            event.remove(Engine, "before_cursor_execute", self._note)

    def _note(
        self, connection: Connection, cursor: Any, statement: str, parameters: Any, context: Any, many: bool
    ) -> None:
        sender = _sender()
        if sender is not None and not any(word in statement for word in NOT_OURS):
            names = getattr(context.compiled, "positiontup", None)
            self._senders.setdefault(plain(statement, names), {})[sender] = None

    def paragraphs(self) -> dict[str, list[str]]:
        """Names of functions → the lines of the statements that they send, sorted by the names."""
        found: dict[str, list[str]] = {}
        for statement, senders in sorted(self._senders.items(), key=lambda item: sorted(item[1])):
            found.setdefault(", ".join(sorted(senders)), []).extend(laid_out(f"{statement};"))
        return found


def merged(sqlite: StatementLog, postgres: StatementLog) -> str:
    """The statements of both databases as one text."""
    text = [f"-- {name} is {one} in SQLite, {other} in Postgres\n" for name, (one, other) in STANDS_FOR.items()]
    ours, others = sqlite.paragraphs(), postgres.paragraphs()
    for names in sorted({*ours, *others}):
        one, other = ours.get(names, []), others.get(names, [])
        text.append(f"\n-- {names}\n")
        for how, start, end, begin, until in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
            if how == "equal":
                text += [f"{MARKS['both']}{line}\n" for line in one[start:end]]
            else:
                text += [f"{MARKS['sqlite']}{line}\n" for line in one[start:end]]
                text += [f"{MARKS['postgres']}{line}\n" for line in other[begin:until]]
    return "".join(text)


@contextmanager
def statements_of() -> Iterator[list[str]]:
    """What all engines of this process execute in the block."""
    seen: list[str] = []

    def note(connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        if not any(word in statement for word in NOT_OURS):
            seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def name_of(operation: Callable[..., object]) -> str:
    """The name of a class, a method or a function, as a reader would write it."""
    name = operation.__qualname__
    return name if isinstance(operation, type) or "." in name else f"{operation.__module__}.{name}"


def _sender() -> str | None:
    """The innermost function of the ledger that is running; None when tests send the statement.

    The modules PASS_ON only pass statements on.
    """
    frame = inspect.currentframe()
    while (frame := frame and frame.f_back) is not None:
        name = str(frame.f_globals.get("__name__"))
        package, _, module = name.rpartition(".")
        if f"{package}.".startswith("db.") and name not in PASS_ON:
            return f"{module}.{frame.f_code.co_qualname.partition('.<locals>')[0]}"
        if package.startswith("tests.") and name != __name__:  # this module's own frames come first
            return None
    return None


# -- one text for both databases --------------------------------------------------------------


def plain(statement: str, names: list[str] | None) -> str:
    """A statement whose parameters have names and no types, with one of several values or rows.

    Args:
        names: of the parameters where the statement has "?" for them; None where it has no such parameters.
    """
    text = re.sub(PARAMETER, r":\1", " ".join(statement.split()))
    text = re.sub(r"IN \((\?|:\w+)(?:, \1)+\)", r"IN (\1)", text)
    text = re.sub(r"VALUES (\((?:[^()]|\([^()]*\))*\))(?:, \1)+", r"VALUES \1", text)
    if names is not None:
        assert text.count("?") == len(names), (text, names)
        left = iter(names)
        text = re.sub(r"\?", lambda _: f":{NUMBER.sub('', next(left))}", text)
    for name, written in STANDS_FOR.items():
        for pattern in written:
            text = re.sub(re.escape(pattern).replace(":value", r":(\w+)"), name.replace(":value", r":\1"), text)
    text = re.sub(r"(\([^()]*), 0\)(?:, \1, \d+\))+", r"\1, 0)", text)  # the rows of an INSERT, numbered
    return re.sub(r"(?<=RETURNING ).*", lambda columns: re.sub(r"\b\w+\.", "", columns[0]), text)


# -- over several lines -----------------------------------------------------------------------


def laid_out(text: str, indent: str = "") -> list[str]:
    """A statement or a part of one: broken before its clauses and in its parentheses, where it is too long."""
    if len(indent) + len(text) <= WIDTH:
        return [indent + text] if text else []
    if len(clauses := _clauses(text)) > 1:
        return [line for clause in _joined(clauses, WIDTH - len(indent)) for line in laid_out(clause, indent)]
    start, end = max(_parentheses(text), key=lambda pair: pair[1] - pair[0], default=(0, 0))
    if end - start > SHORT:
        inner = laid_out(text[start + 1 : end], indent + "  ")
        return [*_wrapped(text[: start + 1], indent), *inner, *laid_out(text[end:], indent)]
    return _wrapped(text, indent)


def _clauses(text: str) -> list[str]:
    inside = _parentheses(text)
    starts = [
        match.start()
        for match in CLAUSE.finditer(text)
        if match.start() and not any(start < match.start() < end for start, end in inside)
    ]
    return [text[start:end].strip() for start, end in pairwise([0, *starts, len(text)])]


def _joined(clauses: list[str], width: int) -> list[str]:
    """Further tables and conditions stand behind the first ones as far as there is room."""
    lines = clauses[:1]
    for clause in clauses[1:]:
        joined = f"{lines[-1]} {clause}"
        if len(joined) <= width and re.match("AND|JOIN|LEFT", clause):
            lines[-1] = joined
        else:
            lines.append(clause)
    return lines


def _parentheses(text: str) -> list[tuple[int, int]]:
    """Where the outermost ones open and close."""
    found, opened = [], []
    for place, letter in enumerate(text):
        if letter == "(":
            opened.append(place)
        elif letter == ")" and opened:
            start = opened.pop()
            if not opened:
                found.append((start, place))
    return found


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
