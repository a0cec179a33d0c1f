"""What a task server answers to those who watch: the status of a campaign, and the list of campaigns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock

from db import Campaign, Standing
from db.look.overview.records import Overview
from db.look.overview.shared import Shared
from db.messages import encoded, iso
from db.states import TaskState
from jobs.reach.wire import Listed, TaskNumbers


class Overviews:
    """The overviews of a server's campaigns: the ledger is queried once for all who watch a campaign.

    Only one overview is computed at a time.
    """

    def __init__(self, campaigns: Mapping[str, Campaign]) -> None:
        self._turn = Lock()
        self._overviews = {name: self._shared(campaign) for name, campaign in campaigns.items()}
        self._readers = {name: campaign.reader for name, campaign in campaigns.items()}
        self._standings = {name: Shared(reader.standing) for name, reader in self._readers.items()}
        self._for_workers = {name: Shared(reader.standing) for name, reader in self._readers.items()}
        self._texts: dict[str, tuple[Overview, bytes]] = {}

    def _shared(self, campaign: Campaign) -> Shared[Overview]:
        def ask() -> Overview:
            with self._turn:
                return campaign.reader.overview()

        return Shared(ask)

    def of(self, name: str) -> Shared[Overview]:
        return self._overviews[name]

    def standing(self, name: str) -> Standing:
        """Some seconds old."""
        return self._standings[name].newest()

    def standing_for_workers(self, name: str) -> Standing:
        """Some seconds old while tasks are ready and none ends: thousands of workers ask when they start."""
        standing = self._for_workers[name].newest()
        return standing if TaskState.READY in standing.tasks else self._readers[name].standing()

    def end(self, name: str) -> None:
        """Note that attempts have ended: a worker sees at once that nothing is left to do."""
        self._for_workers[name].forget()

    def status(self, name: str) -> bytes:
        """The document of a status; it is some seconds old."""
        overview = self._overviews[name].newest()
        known, text = self._texts.get(name, (None, b""))
        if known is not overview:
            text = encoded(overview)
            self._texts[name] = overview, text
        return text

    def listed(self, campaigns: Sequence[Campaign]) -> bytes:
        """The document of a list of campaigns of this server."""
        return encoded([_listed(each.name, self._overviews[each.name].newest()) for each in campaigns])


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
