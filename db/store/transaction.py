"""One transaction on one campaign: what the functions of the ledger's rooms read and change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVarTuple, overload

from sqlalchemy import ColumnElement, Connection, CursorResult, Executable, Integer, ScalarResult, bindparam
from sqlalchemy.sql.selectable import TypedReturnsRows

from db.store import statements

CAMPAIGN: ColumnElement[int] = bindparam("campaign", type_=Integer)
"""The campaign of the transaction, in the statements that :meth:`Transaction.execute` executes."""
Columns = TypeVarTuple("Columns")


@dataclass(frozen=True)
class Transaction:
    connection: Connection
    campaign_id: int

    @property
    def dialect(self) -> str:
        return self.connection.dialect.name

    def on(self, campaign_id: int) -> Transaction:
        return replace(self, campaign_id=campaign_id)

    @overload
    def execute(self, statement: TypedReturnsRows[*Columns], **parameters: object) -> CursorResult[*Columns]: ...

    @overload
    def execute(self, statement: Executable, **parameters: object) -> CursorResult[*tuple[Any, ...]]: ...

    def execute(self, statement: Executable, **parameters: object) -> CursorResult[*tuple[Any, ...]]:
        """Execute a statement whose parameters are ``campaign``, the campaign of this transaction, and these."""
        return self.connection.execute(statement, {"campaign": self.campaign_id, **parameters})

    def rows(self, statement: Executable, **parameters: object) -> Sequence[Any]:
        """All rows of a statement that many requests need, see :mod:`db.store.statements`."""
        return statements.rows(self.connection, statement, {"campaign": self.campaign_id, **parameters})

    def change(self, statement: Executable, **parameters: object) -> int:
        """As :meth:`rows`, of a statement that changes rows and returns none; returns their number."""
        return statements.change(self.connection, statement, {"campaign": self.campaign_id, **parameters})

    def scalars(self, statement: Executable, **parameters: object) -> ScalarResult[Any]:
        return self.execute(statement, **parameters).scalars()

    def scalar(self, statement: Executable, **parameters: object) -> Any:
        return self.execute(statement, **parameters).scalar()
