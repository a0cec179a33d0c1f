"""Tables as classes whose attributes are their columns.

The ledger reads and writes rows, never objects: SQLAlchemy's mapper of objects, which has the same form, would cost
every command an import as long as that of all our own modules of the ledger, and make each statement twice as dear.
"""

from __future__ import annotations

from inspect import get_annotations
from typing import TYPE_CHECKING, Any

from sqlalchemy import Boolean, Column, Float, Integer, MetaData, String, Table
from sqlalchemy.types import NullType

if TYPE_CHECKING:
    # Type checkers know what a column holds by the mapper's types, which say the same.
    from sqlalchemy.orm import InstrumentedAttribute as ColumnOf
    from sqlalchemy.orm import Mapped, aliased
else:
    ColumnOf = Mapped = Column
    """What a column of a class is: ``Mapped[int | None]`` gives it a type and says whether it may be NULL."""

    def aliased(table: TableType, name: str | None = None) -> Aliased:
        """A table under another name, for statements in which it occurs twice."""
        return Aliased(table, name)


__all__ = ["ColumnOf", "Mapped", "TableType", "aliased", "mapped_column"]
TYPES: dict[str, Any] = {"int": Integer(), "str": String(), "float": Float(53), "bool": Boolean()}


class Declared:
    """What a column has beside its name: the arguments of a Column."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.arguments = [argument for argument in arguments if argument is not None]
        self.options = options

    def column(self, name: str, annotation: str) -> Column[Any]:
        """``annotation``: like "Mapped[int | None]"."""
        kind, _, optional = annotation.removeprefix("Mapped[").removesuffix("]").partition(" | ")
        column = Column(name, *self.arguments, **{"nullable": bool(optional), **self.options})
        if isinstance(column.type, NullType) and not column.foreign_keys:
            column.type = TYPES[kind]
        return column


def mapped_column(*arguments: Any, **options: Any) -> Any:
    return Declared(*arguments, **options)


class TableType(type):
    """The class of classes that are tables: SQLAlchemy takes one wherever it takes a table."""

    __table__: Table
    __tablename__: str
    metadata = MetaData()

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> None:
        super().__init__(name, bases, body)
        if "__tablename__" not in body:
            return
        columns = [
            vars(of).get(key, Declared()).column(key, annotation)
            for of in cls.__mro__
            for key, annotation in get_annotations(of).items()
            if str(annotation).startswith("Mapped[")
        ]
        cls.__table__ = Table(cls.__tablename__, TableType.metadata, *columns, *body.get("__table_args__", ()))
        for column in columns:
            setattr(cls, column.key, column)

    def __clause_element__(cls) -> Table:
        return cls.__table__


class Aliased:
    """What :func:`aliased` makes."""

    def __init__(self, table: TableType, name: str | None) -> None:
        self._alias = table.__table__.alias(name)
        for column in self._alias.columns:
            setattr(self, column.key, column)

    def __clause_element__(self) -> Any:
        return self._alias
