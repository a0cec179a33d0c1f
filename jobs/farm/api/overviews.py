"""What a task server answers to those who watch: the status of a campaign, and the list of campaigns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from db import Campaign, Standing
from db.look.overview.records import Overview, WarningKind
from db.look.overview.shared import Shared
from db.messages import document, encoded, iso
from jobs.reach.wire import Listed, TaskNumbers


class Overviews:
    """The overviews of a server's campaigns: the ledger is queried once for all who watch a campaign.

    Only one overview is computed at a time.
    """

    def __init__(self, campaigns: Mapping[str, Campaign]) -> None:
        self._folders, self._turn = {"the server": Path.cwd()}, Lock()
        self._overviews = {name: self._shared(campaign) for name, campaign in campaigns.items()}
        self._standings = {name: Shared(campaign.standing) for name, campaign in campaigns.items()}
        self._texts: dict[tuple[str, bool], tuple[Overview, bytes]] = {}

    def _shared(self, campaign: Campaign) -> Shared[Overview]:
        def ask() -> Overview:
            with self._turn:
                return campaign.overview(folders=self._folders)

        return Shared(ask)

    def of(self, name: str) -> Shared[Overview]:
        return self._overviews[name]

    def standing(self, name: str) -> Standing:
        """Some seconds old."""
        return self._standings[name].newest()

    def status(self, name: str, in_full: bool = True) -> bytes:
        """The document of a status; it is some seconds old.

        Args:
            name: of a campaign.
            in_full: whether its reader knows the fields of this version, and not only those of 1.x.
        """
        overview = self._overviews[name].newest()
        known, text = self._texts.get((name, in_full), (None, b""))
        if known is not overview:
            text = encoded(overview) if in_full else json.dumps(_as_before(overview)).encode()
            self._texts[name, in_full] = overview, text
        return text

    def listed(self, campaigns: Sequence[Campaign], in_full: bool = True) -> bytes:
        """The document of a list of campaigns.

        Args:
            campaigns: of this server.
            in_full: as for :meth:`status`.
        """
        listed = [_listed(campaign.name, self._overviews[campaign.name].newest()) for campaign in campaigns]
        if in_full:
            return encoded(listed)
        return json.dumps([_without(document(each), "title") for each in listed]).encode()


def _as_before(overview: Overview) -> dict[str, Any]:
    """As servers of 1.x answered: their clients refuse a field that they do not know."""
    fields = _without(document(overview), "lost", "title")
    for worker in fields["workers"]:
        del worker["lost"]
    for warned in fields["warnings"]:
        if warned["kind"] == WarningKind.TOKEN:  # they do not know this kind, and showed such warnings as this one
            warned["kind"] = WarningKind.NO_WORKERS
    return fields


def _without(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


def _listed(name: str, overview: Overview) -> Listed:
    """``name``: under which this server has the campaign, also when the ledger has another one by now."""
    tasks, finished = overview.tasks, overview.finished
    return Listed(
        campaign=name,
        problem=overview.problem,
        tasks=TaskNumbers(total=tasks.total, done=tasks.done),
        finished=None if finished is None else iso(finished),
        title=overview.title,
    )
