"""Results that belong elsewhere, strangers with a token, restored ledgers: real servers, real workers."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from db import Credential, Delivery, Lease, Ledger
from db.schema.models import Attempt, Token, Voter
from db.states import EventKind, Outcome, Role
from jobs.reach.identity import Identity
from jobs.reach.outbox import Outbox
from jobs.reach.remote import NotEnrolled, RemoteCampaign
from jobs.run.loop import result
from langford.arithmetic.residue import residue
from langford.methods import plan_of
from langford.result import Evaluation
from tests.farm.farm import CAMPAIGN, COUNT, NAME, Farm, Proxy, close
from tests.support.databases import new_ledger
from tests.support.ports import free_port

SUFFIX = ".result.json"


@pytest.fixture
def farms(tmp_path: Path) -> Iterator[list[Farm]]:
    """Two farms whose campaigns have one name and one plan, each in a ledger of its own."""
    made = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        made.append(Farm(tmp_path / name, CAMPAIGN))
    yield made
    for farm in made:
        farm.stop()


def lie(farm: Farm, shown: Credential, index: int) -> Delivery:
    """A wrong result that passes the checks of its task."""
    plan = farm.campaign.plan
    true = plan.evaluate(index)
    value = true.value + (1 << plan.expectation(index).zero_bits)
    forged = replace(true, value=value, residue=residue(value))
    return Delivery.of(shown, Evaluation(forged, 0.5, "{}"))


def restart(farm: Farm) -> None:
    farm.server.kill()
    farm.server.wait()
    farm.server = farm.serve()


@pytest.mark.exhaustive
def test_two_farms_of_one_name_share_a_machine(farms: list[Farm], tmp_path: Path) -> None:
    outbox = str(tmp_path / "outbox")
    for farm in farms:
        workers = [farm.work(outbox=outbox, in_process=False) for _ in range(2)]
        farm.wait_until(lambda farm=farm: farm.done() > 3)  # type: ignore[misc]
        farm.server.kill()
        farm.server.wait()
        campaign = tmp_path / "outbox" / farm.campaign.uuid
        farm.wait_until(lambda campaign=campaign: len(list(campaign.rglob(f"*{SUFFIX}"))) > 1)  # type: ignore[misc]
        workers[0].kill()
        workers[0].wait()
        farm.server = farm.serve()
    workers = [farm.work(outbox=outbox) for farm in farms]
    for farm, worker in zip(farms, workers, strict=True):
        farm.finish(worker)
    for farm in farms:
        for process in farm.processes:
            if process.args[3] == "work":  # type: ignore[index]
                process.wait(60)
    assert not list((tmp_path / "outbox").rglob(f"*{SUFFIX}"))
    assert not (tmp_path / "outbox" / "quarantine").exists()


def test_a_file_left_over_from_another_ledgers_trial_is_not_counted(farms: list[Farm], tmp_path: Path) -> None:
    trial, real = farms
    root = tmp_path / "outbox"
    server, me = RemoteCampaign(f"http://127.0.0.1:{trial.port}/{NAME}", trial.token), Identity.fresh()
    server.enrol(me)
    left = Outbox(root, me)
    left.open(server.info())
    for lease in server.lease(me.worker_id, 3, 60, []):
        left.put(lie(trial, lease, lease.index))
    first, second, _ = sorted(left.folder.iterdir())
    # By hand, or by a version that knew no better: into the folder of a dead worker of the real campaign, and flat.
    dead = root / real.campaign.uuid / "11111111-0000-4000-8000-000000000000"
    dead.mkdir(parents=True)
    shutil.copy(first, dead)
    shutil.copy(second, root / second.name)
    worker = real.work(outbox=str(root))
    _, errors = worker.communicate(timeout=150)
    assert worker.returncode == 0, errors
    real.finish()
    assert len(list((root / "quarantine").glob("*.reason"))) == 2
    assert errors.count("is not sent") == 2
    assert left.count == 3
    assert real.campaign.progress().attempts == {"done": real.campaign.tasks}


def test_a_token_alone_changes_no_attempt(farm: Farm) -> None:
    """Running attempts and a finished campaign: nobody is hurt, nobody is blamed, nothing is in doubt."""
    farm.campaign.set_recheck_share(0.2)
    restart(farm)
    victim = Identity.fresh()
    farm.ledger.enrol(victim.worker_id, victim.host, victim.process)  # works on the ledger itself
    leases = farm.campaign.lease(victim.worker_id, 5, 600)
    stranger = RemoteCampaign(f"http://127.0.0.1:{farm.port}/{NAME}", farm.token)

    def attack() -> None:
        before = farm.campaign.progress()
        with farm.ledger.database.reading() as connection:
            attempts = connection.execute(select(Attempt.id, Attempt.task_index)).all()
        guesses = [Credential(attempt, "guessed") for attempt, _ in attempts]
        assert stranger.renew(guesses, 0.0) == set()
        stranger.release(guesses, Outcome.RELEASED, "mine")
        assert not any(stranger.fail(guess, "boom") for guess in guesses[:20])
        lies = [lie(farm, Credential(attempt, "guessed"), index) for attempt, index in attempts]
        assert {receipt.event for receipt in stranger.deliver(lies)} == {EventKind.REFUSED}
        with pytest.raises(NotEnrolled):
            stranger.lease("11111111-0000-4000-8000-000000000000", 5, 60, [])
        assert farm.campaign.progress() == before
        assert all(task.failures == 0 for task in farm.campaign.task_records())

    attack()
    assert farm.campaign.renew(leases, 600) == {lease.attempt for lease in leases}
    farm.campaign.release(leases)
    workers = [farm.work_on(host) for host in ("first", "second")]
    farm.finish(*workers)
    attack()
    assert result(farm.campaign).published == COUNT
    with farm.ledger.database.reading() as connection:
        assert not connection.scalars(select(Voter.id).where(Voter.distrusted.is_not(None))).all()


class LosingProxy(Proxy):
    """A relay that loses the answers to requests for work, as long as ``losing`` is positive."""

    def __init__(self, to: int, losing: int) -> None:
        self.losing, self._asked = losing, False
        super().__init__(to)

    def _relay(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while content := source.recv(65536):
                if content.startswith((b"POST", b"GET")):
                    self._asked = b"/leases" in content
                elif content.startswith(b"HTTP") and self._asked and self.losing:
                    self.losing -= 1
                    break
                target.sendall(content)
        close(source, target)


def test_a_lost_answer_orphans_no_task(farm: Farm) -> None:
    proxy = LosingProxy(farm.port, losing=3)
    start = time.monotonic()
    worker = farm.work("--lease", "3000", port=proxy.port)
    farm.finish(worker)
    assert time.monotonic() - start < 100
    assert not proxy.losing
    with farm.ledger.database.reading() as connection:
        notes = connection.scalars(select(Attempt.note).where(Attempt.outcome == Outcome.RELEASED)).all()
    assert set(notes) == {"its worker does not know of it"}
    assert farm.campaign.progress().attempts == {"done": farm.campaign.tasks, "released": len(notes)}


def test_a_ledger_restored_from_a_backup(farm: Farm) -> None:
    database, backup = farm.folder / "langford.db", farm.folder / "backup.db"
    early = farm.work(outbox="outbox")
    farm.wait_until(lambda: farm.done() > 3)
    farm.server.kill()
    farm.server.wait()
    farm.ledger.close()
    shutil.copy(database, backup)
    early.send_signal(signal.SIGSTOP)  # it must not finish the campaign before the other has begun
    uuid, before = farm.campaign.uuid, farm.done()
    farm.server = farm.serve()
    third = Identity.fresh()
    server = RemoteCampaign(f"http://127.0.0.1:{farm.port}/{NAME}", farm.token)
    server.enrol(third)
    granted: list[Lease] = []  # at once, or when the leases of the stopped worker are over
    farm.wait_until(lambda: bool(granted or granted.extend(server.lease(third.worker_id, 1, 60, [])) or granted))
    [lease] = granted
    late = farm.work(outbox="outbox")
    farm.wait_until(lambda: farm.done() > before + 2)
    left = Outbox(farm.folder / "outbox", third)
    left.open(server.info())
    farm.server.kill()
    farm.server.wait()
    early.send_signal(signal.SIGCONT)
    left.put(lie(farm, lease, lease.index))
    left.close()
    farm.ledger.close()
    for rest in farm.folder.glob("langford.db-*"):
        rest.unlink()
    shutil.copy(backup, database)
    farm.ledger = Ledger(str(database))
    farm.campaign = farm.ledger.campaign(NAME)
    assert farm.campaign.uuid == uuid
    assert farm.done() <= before
    farm.server = farm.serve()
    errors = [worker.communicate(timeout=150)[1] for worker in (early, late)]
    assert "enrols again" in errors[1]
    farm.finish(early, late)
    progress = farm.campaign.progress()
    assert progress.conflicts == 0
    # A lease that expired while its worker was stopped may bring its true result late: that confirms, nothing else.
    again, expired = (progress.attempts.get(outcome, 0) for outcome in ("superseded", "expired"))
    assert again <= progress.confirmed <= again + expired
    reasons = [file.read_text() for file in (farm.folder / "outbox" / "quarantine").glob("*.reason")]
    assert any("the server refuses it: the nonce shown is of no attempt" in reason for reason in reasons)
    assert not list((farm.folder / "outbox" / uuid).rglob(f"*{SUFFIX}"))


def test_another_campaign_under_the_name_ends_the_worker_and_keeps_its_results(farm: Farm) -> None:
    worker = farm.work("--lease", "60", in_process=False)
    farm.wait_until(lambda: farm.done() > 3)
    farm.server.kill()
    farm.server.wait()
    first = farm.folder / "outbox" / farm.campaign.uuid
    farm.wait_until(lambda: len(list(first.rglob(f"*{SUFFIX}"))) > 0)
    farm.ledger.close()
    for file in farm.folder.glob("langford.db*"):
        file.unlink()
    farm.ledger = new_ledger("sqlite", farm.folder, "langford.db")
    farm.campaign = farm.ledger.create_campaign(NAME, CAMPAIGN, plan_of(CAMPAIGN).work.tolist())
    with farm.ledger.database.writing() as connection:
        digest = hashlib.sha256(farm.token.encode()).hexdigest()
        row = {"campaign_id": farm.campaign.campaign_id, "role": Role.WORKER, "digest": digest, "created": 0.0}
        connection.execute(insert(Token).values(**row))
    farm.server = farm.serve()
    _, errors = worker.communicate(timeout=100)
    assert worker.returncode == 2
    assert "another campaign" in errors
    # Not even leased: a lease that nobody holds keeps its task from others until it ends.
    assert farm.campaign.progress().attempts == {}
    farm.finish(farm.work())


def test_a_server_whose_plan_has_other_tasks_refuses(farm: Farm) -> None:
    """So do workers, of a server of another version: see ``test_task_source``."""
    short = farm.ledger.create_campaign("short", CAMPAIGN, plan_of(CAMPAIGN).work.tolist()[:-1])
    server = farm.start("serve", "short", "--port", str(free_port()))
    _, errors = server.communicate(timeout=60)
    assert server.returncode == 2
    assert f"was split into {short.tasks} tasks" in errors
    assert f"into {short.tasks + 1}" in errors
