"""Two servers of one campaign, which share a ledger in Postgres: a worker may ask either, and change in between."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from db import Ledger
from db.identity import Identity
from db.states import Role
from jobs.farm.api import server
from jobs.farm.api.clients import Clients
from jobs.farm.guard.hearing import Hearing
from jobs.reach.remote import RemoteCampaign, RemoteServer
from tests.support.asgi import Bridge
from tests.support.campaigns import COUNT, HOUR, NAME, TASKS, new_campaign, true_deliveries
from tests.support.databases import new_ledger


def reached(ledger: Ledger, token: str) -> RemoteCampaign:
    """The campaign of a ledger behind a server of its own."""
    made = server.application(ledger, [NAME], Clients(hearing=Hearing(seconds=0.0)))
    campaign = RemoteServer(f"http://localhost:1/{NAME}", token, transport=Bridge(made)).campaign()
    campaign.info()
    return campaign


def test_workers_of_two_servers_complete_each_task_once(tmp_path: Path) -> None:
    with new_ledger("postgres", tmp_path) as ledger, Ledger(ledger.database.where) as same:
        campaign = new_campaign(ledger, workers="")
        token = campaign.operator.new_token(Role.WORKER)
        with closing(reached(ledger, token)) as first, closing(reached(same, token)) as second:
            mine, yours = Identity.fresh(), Identity.fresh()
            (_, held), (_, others) = first.enrol(mine, 3, HOUR, []), second.enrol(yours, 3, HOUR, [])
            assert len({lease.index for lease in (*held, *others)}) == 6
            assert second.renew(held, HOUR) == {lease.attempt for lease in held}
            second.deliver(true_deliveries(held))
            first.deliver(true_deliveries(others))
            for asked in (second, first):
                more = asked.lease(mine.worker_id, 2, HOUR, [])
                assert len(more) == 2
                asked.deliver(true_deliveries(more))
        assert campaign.reader.merged().published == COUNT
        assert campaign.reader.standing().tasks == {"done": TASKS}
