"""Real workers whose outbox is full of files of every kind: they send their results, and end as they would."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path

from db import Credential, Delivery, Ledger
from db.states import Role
from jobs.reach import outbox_files
from jobs.reach.wire import Description
from langford.result import Evaluation, PartialResult
from tests.farm.farm import Farm
from tests.support.command_line import Run
from tests.support.databases import fresh_database
from tests.support.hostile_files import SUFFIX, plant
from tests.support.servers import Server


def genuine(farm: Farm) -> bytes:
    """The content of a result as a worker writes it, without a lease of its own."""
    campaign = farm.campaign
    address = farm.ledger.uuid, campaign.uuid, campaign.name, campaign.key, campaign.tasks, campaign.work
    made = Evaluation(PartialResult(0, 0, 0, 1), 0.5, "{}")
    info = Description.of(*address, campaign.standing(), "kernels")
    return outbox_files.sealed(info, "kernels", Delivery.of(Credential(1_000_000, "guessed"), made))


def living(root: Path, campaign: str) -> list[Path]:
    """The folders of workers that have them now."""
    return [lock.with_suffix("") for lock in (root / campaign).glob("*.lock") if lock.with_suffix("").is_dir()]


def quarantined(root: Path) -> list[Path]:
    """The files in the quarantine, without the reasons."""
    return [file for file in (root / "quarantine").glob("*") if not file.name.endswith(".reason")]


def test_workers_end_well_whatever_is_in_their_outbox(farm: Farm, tmp_path: Path) -> None:
    """Two of one outbox; some of it is there before they start, in the name of a dead worker, some comes later."""
    root, outside = farm.folder / "outbox", tmp_path / "outside"
    outside.mkdir()
    dead = root / farm.campaign.uuid / str(uuid.uuid4())
    dead.mkdir(parents=True)
    content = genuine(farm)
    made = plant(dead, content, outside)
    (dead / f"copy of 10.0{SUFFIX}").write_bytes(content)
    os.mkfifo(root / farm.campaign.uuid / f"{uuid.uuid4()}.lock")
    (root / farm.campaign.uuid / "not mine").symlink_to(outside)
    workers = [farm.work(), farm.work()]
    farm.wait_until(lambda: farm.done() > 2 and len(living(root, farm.campaign.uuid)) == 2)
    # A file of the dead one that is still in the folder of a living one would be replaced by one of that name.
    farm.wait_until(lambda: len(quarantined(root)) == len(made) + 1)
    for number, folder in enumerate(living(root, farm.campaign.uuid)):
        (outside / str(number)).mkdir()
        made += plant(folder, content, outside / str(number))
    before = sorted(outside.rglob("*"))
    farm.finish(*workers)
    assert sorted(outside.rglob("*")) == before
    assert not [file for file in made if os.path.lexists(file)]
    assert len(quarantined(root)) == len(made) + 1
    with farm.ledger.database.reading() as connection:
        refused = "SELECT count(*) FROM event WHERE kind = 'refused'"
        assert connection.exec_driver_sql(refused).scalar_one() > 0


def test_a_quarantine_that_takes_nothing_changes_no_exit_code(farm: Farm) -> None:
    """What can be neither sent nor moved is named in one line, and does not count as a result that waits."""
    root = farm.folder / "outbox"
    root.mkdir()
    (root / "quarantine").write_text("mine")
    dead = root / farm.campaign.uuid / str(uuid.uuid4())
    dead.mkdir(parents=True)
    (dead / f"copy of 10.0{SUFFIX}").write_bytes(genuine(farm))
    worker = farm.work("--json")
    _, errors = worker.communicate(timeout=150)
    assert worker.returncode == 0, errors
    assert errors.count("cannot be moved") == 1
    assert farm.campaign.progress().tasks == {"done": farm.campaign.tasks}


def test_a_server_on_postgres_refuses_what_is_forged(langford: Run, tmp_path: Path) -> None:
    """Numbers that no column holds, too: a result that its ledger cannot take must not come again and again."""
    address = fresh_database("postgres", tmp_path)
    assert (
        langford("create", "langford", "8", "--depth", "4", "--name", "eight", "--ledger", address).returncode == 0
    )
    with Ledger(address) as ledger:
        campaign = ledger.campaign("eight")
        token, identity = campaign.new_token(Role.WORKER), (ledger.uuid, campaign.uuid)
        info = Description.of(*identity, "eight", campaign.key, campaign.tasks, 1.0, campaign.standing(), "kernels")
    dead = tmp_path / "outbox" / info.campaign / str(uuid.uuid4())
    dead.mkdir(parents=True)
    result = Evaluation(PartialResult(0, 0, 0, 1), 0.5, "{}")
    for number, attempt in enumerate((1, 2**31 - 1, 2**31, 2**53, 2**62)):
        content = outbox_files.sealed(info, "kernels", Delivery.of(Credential(attempt, "guessed"), result))
        (dead / f"{number}{SUFFIX}").write_bytes(content)
    with Server(tmp_path, "eight", "--ledger", address) as server:
        options = ["--outbox", "outbox", "--workers", "1"]
        done = langford("work", f"{server.url}/eight", *options, variables={"LANGFORD_TOKEN": token})
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("the server refuses it") == 5, done.stderr
    assert json.loads(langford("status", "--json", "--ledger", address).stdout)[0]["tasks"]["done"] == info.tasks
