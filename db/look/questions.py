"""The views of a ledger as questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import column, select, table

from db.look.read_only import SECONDS, QueryResult, ask_select
from db.schema import views
from db.schema.view_queries import View
from db.store.database import Database
from db.work import catalogue


@dataclass(frozen=True)
class Question:
    """A view, and which of its columns a table shows first: those that say most."""

    view: View
    leading: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.view.columns)


@contextmanager
def ask(
    database: Database,
    question: Question,
    campaign: str | None = None,
    limit: int | None = None,
    seconds: float = SECONDS,
    leading: bool = False,
) -> Iterator[QueryResult]:
    """Read a view, as :func:`db.look.read_only.ask_sql` does; raises NoSuchCampaign too.

    Args:
        campaign: only its rows; None: of all.
        limit: how many rows at most; None: all.
        leading: whether the columns that say most are the first of its answer.
    """
    if campaign is not None:
        with database.reading() as connection:
            catalogue.required_campaign(connection, campaign, database.where)
    view = question.view
    asked = table(view.name, *(column(name, each.type) for name, (each, _) in view.selected.items()))
    names = dict.fromkeys([*(question.leading.split() if leading else ()), *question.columns])
    chosen = select(*(asked.c[name] for name in names)).limit(limit)
    if campaign is not None:
        chosen = chosen.where(asked.c.campaign == campaign)
    with ask_select(database, chosen, seconds) as answer:
        yield answer


_LEADING = {
    "task_overview": "campaign task state seconds worker host ended outcome doubt",
    "worker_overview": "worker host campaign done leased last_seen ending",
    "disagreements": "campaign task doubt accepted_host other_host",
}
QUESTIONS: Mapping[str, Question] = {view.name: Question(view, _LEADING.get(view.name, "")) for view in views.VIEWS}
"""By the names of the views."""
