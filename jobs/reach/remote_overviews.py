"""The overviews of a task server's campaigns, for those who watch from another machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from msgspec import Meta

from db.look.overview import Overview
from jobs.reach.requests import Requests, split
from jobs.reach.wire import MAX_CAMPAIGNS, Listed
from langford.errors import BadInput

Campaigns = Annotated[list[Listed], Meta(max_length=MAX_CAMPAIGNS)]


class RemoteOverviews:
    """The overviews that a token opens."""

    def __init__(self, url: str, name: str | None, token: str, certificate: Path | None, insecure: bool) -> None:
        """``name``: of a campaign; None: the one in the address, or all.  Raises BadInput."""
        parts = split(url)
        path = parts.path.strip("/")
        if parts.scheme not in ("http", "https") or not parts.hostname or "/" in path or (path and name):
            raise BadInput(
                f"{url!r} is not the address of a server: write http://HOST:PORT/CAMPAIGN, or http://HOST:PORT for "
                "all campaigns that the token opens"
            )
        self.address, self.name = f"{parts.scheme}://{parts.netloc}", name or path or None
        self._requests = Requests(parts, token, certificate, insecure)

    def overviews(self) -> list[Overview]:
        """Raises ServerAway, ServerRefuses or CampaignReplaced."""
        names = [self.name] if self.name else self._names()
        return [self._overview(name) for name in names]

    def _names(self) -> list[str]:
        return [listed.campaign for listed in self._requests.get(Campaigns, f"{self.address}/campaigns")]

    def _overview(self, name: str) -> Overview:
        return self._requests.get(Overview, f"{self.address}/campaigns/{quote(name, safe='')}", "/status")

    def close(self) -> None:
        self._requests.close()
