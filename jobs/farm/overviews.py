"""What a task server says to those who watch: the status of a campaign, and the campaigns that a token opens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from db import Campaign, Ledger
from db.overview import Watch, iso, to_document


class Overviews:
    """The overviews of the campaigns of a server: each is asked from the ledger once for all who watch."""

    def __init__(self, campaigns: Mapping[str, Campaign]) -> None:
        """``campaigns``: by name."""
        folders = {"the server": Path.cwd()}
        self._watches = {name: Watch(partial(campaign.overview, folders)) for name, campaign in campaigns.items()}

    def watch(self, name: str) -> Watch:
        """What has the overview of a campaign."""
        return self._watches[name]

    def status(self, ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
        """The overview of a campaign as JSON."""
        return to_document(self._watches[campaign.name].overview())

    def listed(self, campaigns: Sequence[Campaign]) -> list[dict[str, Any]]:
        """Some campaigns as JSON, each in a few words."""
        overviews = [self._watches[campaign.name].overview() for campaign in campaigns]
        return [
            {
                "campaign": overview.campaign,
                "problem": overview.problem,
                "tasks": {"total": int(overview.tasks.total), "done": int(overview.tasks.done)},
                "finished": None if overview.finished is None else iso(overview.finished),
            }
            for overview in overviews
        ]
