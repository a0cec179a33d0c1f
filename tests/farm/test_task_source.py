"""The tasks of a campaign as a run sees them, also while its ledger is away; no network."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from msgspec import structs
from sqlalchemy import delete, make_url

from db import Campaign, CampaignRecord, Delivery, Lease, Standing
from db.errors import CampaignMismatch, ConnectionLost, LedgerUnusable
from db.identity import Identity
from db.look.overview.records import Eta, Overview, WorkerState
from db.records import CampaignInfo
from db.schema.models import Attempt, Worker
from db.states import Ending, Outcome
from jobs.reach.outbox import Outbox
from jobs.reach.remote import SERVER, RemoteCampaign, RemoteServer
from jobs.reach.requests import ServerRefuses
from jobs.run.source import TaskSource
from jobs.show.wording import UNSEEN_SECONDS
from langford.methods import PlanKey
from langford.problem import Problem
from tests.support.campaigns import HOUR, KEY, TASKS, new_campaign, true_deliveries
from tests.support.clock import MovableClock
from tests.support.consoles import KeptConsole
from tests.support.databases import new_ledger, postgres

MILLIONS = PlanKey(Problem.langford(28), "shifted", 24)


@pytest.mark.parametrize(("key", "tasks"), [(KEY, TASKS + 1), (MILLIONS, 5)], ids=["another version", "a lie"])
def test_a_campaign_that_is_split_otherwise_is_left_alone(
    key: PlanKey, tasks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = CampaignRecord(1, "2" * 36, "farmed", key, tasks, 1.0, 0.0, 0.0)
    told = CampaignInfo.of("1" * 36, known, Standing({}, {}), "kernels")
    monkeypatch.setattr(RemoteCampaign, "info", lambda self: told)
    me = Identity.fresh()
    source = TaskSource(RemoteServer("http://127.0.0.1:1/farmed", "token").campaign(), me, Outbox(tmp_path, me))
    tracemalloc.start()
    with pytest.raises(CampaignMismatch, match=f"into {tasks} tasks.*use the version that created it"):
        assert source.ready
    assert tracemalloc.get_traced_memory()[1] < 10e6  # no plan of millions of tasks was made
    tracemalloc.stop()
    assert not list(tmp_path.iterdir())


# -- a ledger that goes away ------------------------------------------------------------------------


class Leaving:
    """A campaign that does not answer while the test wants it."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign, self.transport = campaign.worker, campaign.worker.transport
        self.trouble: Exception | None = None

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.campaign, name)
        return partial(self.ask, value) if callable(value) else value

    def ask(self, question: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        if self.trouble is not None:
            raise self.trouble
        return question(*arguments, **options)

    def overview(self) -> Overview:
        made = self.ask(self.campaign.overview)
        return structs.replace(made, eta=Eta(1000.0, made.now, made.now))


class Machine:
    """A machine whose runs take tasks from one ledger."""

    def __init__(self, folder: Path, kind: str = "sqlite") -> None:
        self.ledger, self.clock, self.console = new_ledger(kind, folder), MovableClock(), KeptConsole()
        self.campaign, self.box = new_campaign(self.ledger, ""), folder / "box"

    def source(self, outbox: bool = True, lease_seconds: float = 120.0) -> tuple[Leaving, TaskSource]:
        """A campaign, and a source of its tasks that is ready."""
        reached, me = Leaving(self.campaign), Identity.fresh()
        kept = Outbox(self.box, me, self.console) if outbox else None
        source = TaskSource(reached, me, kept, self.console, lease_seconds, clock=self.clock)
        assert source.ready
        return reached, source

    def wait(self, source: TaskSource) -> None:
        """Let the source ask again."""
        self.clock.move(HOUR)
        source.attend([], {})

    def done(self) -> int:
        return self.campaign.reader.standing().tasks_done


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    yield made
    made.ledger.close()


def finished(leases: list[Lease]) -> list[tuple[Lease, Delivery]]:
    return list(zip(leases, true_deliveries(leases), strict=True))


def test_results_wait_on_the_disk_while_the_ledger_is_away(machine: Machine) -> None:
    reached, source = machine.source()
    first, *rest = source.lease(TASKS, [])
    source.deliver(finished([first]))
    assert (machine.done(), machine.box.exists()) == (1, False)  # nothing is written while the ledger answers
    assert source.lease(1, rest) == []
    machine.wait(source)
    assert source.seconds_left == 1000.0
    reached.trouble = ConnectionLost("no answer")
    source.deliver(finished(rest[:2]))
    source.deliver(finished(rest[2:]))
    assert source.waiting == len(list(machine.box.rglob("*.result.json"))) == TASKS - 1
    assert source.lease(1, []) == []
    assert (source.exhausted, source.seconds_left) == (False, None)
    reached.trouble = None
    machine.wait(source)
    assert (machine.done(), source.waiting) == (TASKS, 0)
    assert source.lease(1, []) == []
    assert source.exhausted
    source.close(Ending.FINISHED)
    assert not list(machine.box.iterdir())
    assert [line.partition(" (")[0] for line in machine.console.said] == [
        "no answer; asking again", "the ledger is back"
    ]  # fmt: skip


def test_a_worker_with_long_leases_is_not_called_late(machine: Machine) -> None:
    longest = UNSEEN_SECONDS[WorkerState.WORKING]
    reached, source = machine.source(lease_seconds=7200.0)
    held = source.lease(2, [])
    reached.__dict__["renew"] = renew = Mock(return_value=set())
    for _ in range(600):
        machine.clock.move(1.0)
        source.attend(held, {held[0].attempt: 1})
    assert 600 / longest < renew.call_count < 600 / 30 + 1


@pytest.mark.parametrize("trouble", [ConnectionLost("no answer"), LedgerUnusable("the disk is full")])
def test_the_next_run_delivers_what_the_last_one_could_not(machine: Machine, trouble: Exception) -> None:
    reached, source = machine.source()
    leases = source.lease(3, [])
    reached.trouble = trouble
    with suppress(LedgerUnusable):
        source.deliver(finished(leases))
    with suppress(LedgerUnusable):
        source.close(Ending.STOPPED)
    assert machine.console.said[-1].startswith("3 results are kept in ")
    assert machine.console.said[-1].endswith(" for the next worker of this campaign on this machine")
    _, later = machine.source()
    later.attend([], {})
    assert machine.done() == 3
    assert (later.tally.tasks, later.tally.tasks_here) == (3, 0)
    later.close(Ending.FINISHED)
    assert not list(machine.box.iterdir())


def test_a_server_that_only_reads_is_away(tmp_path: Path) -> None:
    """As after a failover to a standby: its sessions only read, also those that are open when it writes again."""
    machine = Machine(tmp_path, "postgres")
    name = make_url(machine.ledger.database.where).database
    _, source = machine.source()
    done = finished(source.lease(2, []))
    postgres().psql(f"ALTER DATABASE {name} SET default_transaction_read_only = on;")
    postgres().psql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}';")
    source.deliver(done[:1])
    machine.wait(source)
    source.deliver(done[1:])
    assert source.waiting == 2
    postgres().psql(f"ALTER DATABASE {name} SET default_transaction_read_only = off;")
    machine.wait(source)
    assert (machine.done(), source.waiting) == (2, 0)
    source.close(Ending.STOPPED)
    machine.ledger.close()
    lost, only_reads, back = machine.console.said
    assert "is read-only here: wait until its server is the primary again" in only_reads
    assert "; asking again (away since " in lost + only_reads
    assert back == "the ledger is back"


def test_tasks_in_progress_are_completed_after_a_refusal(machine: Machine) -> None:
    reached, me = Leaving(machine.campaign), Identity.fresh()
    reached.transport = SERVER
    source = TaskSource(reached, me, Outbox(machine.box, me, machine.console), machine.console, clock=machine.clock)
    assert source.ready
    leases = source.lease(2, [])
    reached.trouble = ServerRefuses("the token was revoked")
    machine.clock.move(HOUR)
    with pytest.raises(ServerRefuses):
        source.attend([], {})
    source.attend(leases, {})
    assert source.lease(1, leases) == []
    source.complain(leases[0], Outcome.FAILED, "it breaks")
    source.deliver(finished(leases))
    machine.wait(source)
    with pytest.raises(ServerRefuses, match="revoked"):
        assert source.exhausted
    source.close(Ending.STOPPED)
    assert "the token was revoked; completing the 2 tasks held here, whose results are kept" in machine.console.said
    assert any(said.startswith("2 results are kept in") for said in machine.console.said)
    _, heir = machine.source()
    machine.wait(heir)
    assert machine.done() == 2


def test_leases_whose_results_wait_are_not_given_back(machine: Machine) -> None:
    reached, source = machine.source()
    leases = source.lease(2, [])
    reached.deliver = Mock(side_effect=ConnectionLost("no answer"))
    source.deliver(finished(leases))
    machine.clock.move(HOUR)
    assert len(source.lease(1, [])) == 1
    assert machine.campaign.reader.overview().attempts == {"running": 3}


def test_without_an_outbox_results_wait_in_memory(machine: Machine) -> None:
    reached, source = machine.source(outbox=False)
    leases = source.lease(2, [])
    reached.trouble = ConnectionLost("no answer")
    source.deliver(finished(leases[:1]))
    reached.trouble = None
    machine.wait(source)
    assert machine.done() == 1
    reached.trouble = ConnectionLost("no answer")
    source.deliver(finished(leases[1:]))
    source.close(Ending.STOPPED)
    assert machine.console.said[-1] == "1 result is lost, and will be computed again"


def test_failures_and_deaths_are_reported_when_the_ledger_is_back(machine: Machine) -> None:
    reached, source = machine.source()
    failed, *died = source.lease(2, [])
    reached.trouble = ConnectionLost("no answer")
    source.complain(failed, Outcome.FAILED, "boom")
    assert not source.complain(died[0], Outcome.DIED, "killed")
    assert set(machine.campaign.reader.overview().attempts) == {"running"}
    reached.trouble = None
    machine.wait(source)
    assert machine.campaign.reader.overview().attempts == {Outcome.FAILED: 1, Outcome.DIED: 1}
    assert machine.console.said[-1] == f"task {failed.index} failed and will be tried again: boom"


def test_a_worker_that_the_ledger_does_not_know_enrols_again(machine: Machine) -> None:
    _, source = machine.source()
    source.lease(1, [])
    with machine.ledger.database.writing() as connection:
        connection.execute(delete(Attempt))
        connection.execute(delete(Worker))
    assert source.lease(1, []) == []
    assert "this worker enrols again" in machine.console.said[-1]
    machine.clock.move(HOUR)
    assert len(source.lease(1, [])) == 1
