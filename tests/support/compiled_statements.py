"""One cache of compiled statements for all ledgers that a process opens, and of the views of those it creates.

SQLAlchemy gives each engine its own.  A run or a server opens one ledger and keeps it; tests open hundreds, and
would compile the same statements for each.  Nor do they wait for the disk: no test cuts the power.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Dialect, Engine, event

from db import Ledger
from db.schema import views
from db.states import Ending
from tests.support.campaigns import COUNT, finish, new_campaign, pace
from tests.support.enrolling import leave


class Compiled(dict[Any, Any]):
    """Compiled statements, by the name of their dialect: each engine has a dialect of its own."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get((key[0].name, *key[1:]), default)

    def __setitem__(self, key: Any, compiled: Any) -> None:
        super().__setitem__((key[0].name, *key[1:]), compiled)


_COMPILED = Compiled()


@event.listens_for(Engine, "engine_connect")
def _share(connection: Connection) -> None:
    connection.execution_options(compiled_cache=_COMPILED)
    if connection.dialect.name == "sqlite" and connection.connection.info.setdefault("waits for the disk", True):
        connection.connection.info["waits for the disk"] = False
        connection.connection.cursor().execute("PRAGMA synchronous = OFF")


_VIEWS: dict[tuple[str, str], str] = {}


def _defined_once(view: views.View, dialect: Dialect, define: Any = views.definition) -> str:
    key = view.name, dialect.name
    if key not in _VIEWS:
        _VIEWS[key] = define(view, dialect)
    return _VIEWS[key]


views.definition = _defined_once


def compile_statements() -> None:
    """Have the statements of a campaign's life compiled, for the children of this process."""
    with tempfile.TemporaryDirectory() as folder, Ledger(str(Path(folder, "ledger.db")), create=True) as ledger:
        campaign = new_campaign(ledger)
        pace(campaign)
        finish(campaign, "a")
        campaign.reader.overview()
        leave(ledger, "a", Ending.FINISHED)
        assert ledger.campaign(campaign.name).reader.merged().published == COUNT
