"""The database's clock: the only one that leases go by."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Float
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class Now(FunctionElement[float]):
    """Seconds since 1970 as a SQL expression."""

    type = Float(53)
    inherit_cache = True


@compiles(Now, "sqlite")
def _sqlite(element: Any, compiler: Any, **options: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(Now, "postgresql")
def _postgresql(element: Any, compiler: Any, **options: Any) -> str:
    # Not now(): that is the start of the transaction.
    return "extract(epoch from clock_timestamp())"
