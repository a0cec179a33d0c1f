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

    def status(self, name: str, losses: bool = True) -> bytes:
        """``losses``: false for a client of a version that does not know them."""
        overview = self._overviews[name].newest()
        known, text = self._texts.get((name, losses), (None, b""))
        if known is not overview:
            text = encoded(overview) if losses else json.dumps(_without_losses(overview)).encode()
            self._texts[name, losses] = overview, text
        return text

    def listed(self, campaigns: Sequence[Campaign]) -> list[Listed]:
        return [_listed(self._overviews[campaign.name].newest()) for campaign in campaigns]


def _without_losses(overview: Overview) -> dict[str, Any]:
    fields = document(overview)
    del fields["lost"]
    for worker in fields["workers"]:
        del worker["lost"]
    for warned in fields["warnings"]:
        if warned["kind"] == WarningKind.TOKEN:  # they do not know this kind, and showed such warnings as this one
            warned["kind"] = WarningKind.NO_WORKERS
    return fields


def _listed(overview: Overview) -> Listed:
    tasks, finished = overview.tasks, overview.finished
    return Listed(
        campaign=overview.campaign,
        problem=overview.problem,
        tasks=TaskNumbers(total=tasks.total, done=tasks.done),
        finished=None if finished is None else iso(finished),
    )
