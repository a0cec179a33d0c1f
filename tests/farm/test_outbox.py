"""The outbox of a worker: what it keeps, sends, adopts, and puts aside; no network."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from db import CampaignRecord, Credential, Delivery, Standing
from db.identity import Identity
from db.messages import converted, document
from db.records import CampaignInfo
from jobs.reach import outbox_files
from jobs.reach.outbox import Outbox
from jobs.reach.outbox_files import Quarantine
from langford.methods import method_hash
from tests.support.campaigns import KEY, NAME, TASKS, TRUE, delivery
from tests.support.consoles import KeptConsole

LEDGER, CAMPAIGN, OTHER = (f"{digit * 8}-0000-4000-8000-000000000000" for digit in "123")
NONE_DONE = Standing({}, {})


def info(ledger: str = LEDGER, campaign: str = CAMPAIGN, depth: int = KEY.depth) -> CampaignInfo:
    key = type(KEY)(KEY.problem, KEY.method, depth)
    known = CampaignRecord(1, campaign, NAME, key, TASKS, 1.0, 0.0, 0.0)
    return CampaignInfo.of(ledger, known, NONE_DONE, "kernels")


class Machine:
    """A root of outboxes, and what its workers say."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.console = KeptConsole()
        self.said = self.console.said

    def outbox(self, campaign: CampaignInfo | None = None) -> Outbox:
        made = Outbox(self.root, Identity.fresh(), self.console)
        made.open(campaign or info())
        return made

    def quarantined(self) -> list[str]:
        """The reasons, one for each file beside which it lies."""
        files = sorted((self.root / "quarantine").glob("*.reason")) if self.root.exists() else []
        assert all(os.path.lexists(str(file).removesuffix(".reason")) for file in files)
        return [file.read_text() for file in files]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "box")


def die(outbox: Outbox) -> None:
    """End as a killed process does: the lock is gone, the files stay."""
    (outbox.folder / "keeps-the-folder").touch()
    outbox.close()
    (outbox.folder / "keeps-the-folder").unlink()
    (outbox.folder.parent / f"{outbox.folder.name}.lock").touch()


def test_a_result_is_kept_without_reading_the_folder(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    outbox, read = machine.outbox(), list[Path]()
    monkeypatch.setattr(Path, "iterdir", lambda folder: iter(read.append(folder) or ()))
    assert outbox.put(delivery(Credential(7, "n"), TRUE[0]))
    assert read == []  # while a server is away, thousands of results wait there


def test_what_is_kept_is_there_until_it_is_removed(machine: Machine) -> None:
    outbox = machine.outbox()
    kept = [delivery(Credential(7, "n"), TRUE[0]), delivery(Credential(12, "m"), TRUE[1])]
    for each in kept:
        outbox.put(each)
    assert sorted(outbox.waiting(), key=lambda each: each.attempt) == kept
    assert outbox.attempts == {7, 12}
    assert (outbox.count, outbox.left_behind) == (2, True)
    assert outbox.folder.parent == machine.root / CAMPAIGN
    for folder in (outbox.folder, outbox.folder.parent):
        assert folder.stat().st_mode & 0o077 == 0  # who reads a nonce can deliver in its name
    outbox.remove(kept[0])
    outbox.remove(kept[0])
    assert outbox.waiting() == kept[1:]
    assert outbox.attempts == {12}
    outbox.remove(kept[1])
    assert (outbox.count, outbox.left_behind) == (0, False)
    outbox.close()
    assert not list(machine.root.iterdir())
    assert not machine.said


def test_two_leases_of_one_number_are_two_files(machine: Machine) -> None:
    """A ledger that was restored from a backup grants numbers again."""
    outbox = machine.outbox()
    outbox.put(delivery(Credential(7, "before"), TRUE[0]))
    outbox.put(delivery(Credential(7, "after"), TRUE[1]))
    assert {each.nonce for each in outbox.waiting()} == {"before", "after"}


def test_a_file_says_what_it_belongs_to(machine: Machine) -> None:
    outbox = machine.outbox()
    outbox.put(delivery(Credential(7, "n"), TRUE[0]))
    [file] = outbox.folder.iterdir()
    document = json.loads(file.read_text())
    expected = {"ledger": LEDGER, "campaign": CAMPAIGN, "name": NAME, "problem": "langford-7", "attempt": 7}
    expected |= {"method": "polyphase", "depth": 8, "nonce": "n", "kernels": method_hash("polyphase")}
    assert {name: document.get(name) for name in expected} == expected
    assert outbox_files.opened(file.read_bytes(), info()) == delivery(Credential(7, "n"), TRUE[0])


def test_a_campaign_may_be_renamed_while_results_wait(machine: Machine) -> None:
    outbox = machine.outbox()
    outbox.put(delivery(Credential(7, "n"), TRUE[0]))
    die(outbox)
    assert machine.outbox(structs.replace(info(), name="renamed")).waiting() == [
        delivery(Credential(7, "n"), TRUE[0])
    ]
    assert not machine.quarantined()


def test_the_living_are_left_alone_and_the_dead_are_adopted(machine: Machine) -> None:
    living, dead, elsewhere = machine.outbox(), machine.outbox(), machine.outbox(info(campaign=OTHER))
    for number, outbox in enumerate((living, dead, elsewhere)):
        outbox.put(delivery(Credential(number, "n"), TRUE[number]))
    die(dead)
    die(elsewhere)
    (dead.folder / ".7.n.result.json.host.example.4711").write_text("{")  # half a file, see replace_file
    heir = machine.outbox()
    assert heir.waiting() == [delivery(Credential(1, "n"), TRUE[1])]
    assert not dead.folder.exists()
    assert living.waiting() == [delivery(Credential(0, "n"), TRUE[0])]
    assert elsewhere.waiting() == [delivery(Credential(2, "n"), TRUE[2])]
    die(living)
    heir.adopt()
    assert len(heir.waiting()) == 2
    assert heir.attempts == set()
    assert not machine.quarantined()


def test_a_quarantine_takes_a_file_even_without_room_for_the_reason(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox = machine.outbox()
    (outbox.folder / "7.result.json").write_text("{")
    write_text = Path.write_text

    def write(file: Path, *arguments: Any, **options: Any) -> int:
        if file.name.endswith(".reason"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_text(file, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", write)
    assert outbox.waiting() == []
    [kept] = (machine.root / "quarantine").iterdir()
    assert kept.name.endswith("-7.result.json")
    assert kept.parent.stat().st_mode & 0o077 == 0


def test_a_file_that_is_gone_leaves_no_reason(machine: Machine) -> None:
    """Another worker was faster."""
    machine.outbox()
    Quarantine(machine.root, machine.console).take(machine.root / "7.result.json", "it is wrong")
    assert not list((machine.root / "quarantine").iterdir())
    assert not machine.said


def test_results_in_the_folder_of_no_worker_go_to_the_quarantine(machine: Machine) -> None:
    document = {"attempt": 7, "index": "3", "value": "-12", "residue": "5", "evaluated": "9", "seconds": 0.5}
    for folder in (machine.root, machine.root / NAME):
        folder.mkdir()
        (folder / "7.result.json").write_text(json.dumps({**document, "provenance": "{}"}))
    outbox = machine.outbox()
    assert outbox.waiting() == []
    assert len(machine.quarantined()) == len(machine.said) == 2
    machine.outbox()
    assert len(machine.said) == 2


def test_a_disk_that_takes_nothing_is_named_once(machine: Machine) -> None:
    outbox = machine.outbox()
    outbox.folder.rmdir()
    assert [outbox.put(delivery(Credential(7, "n"), TRUE[0])) for _ in range(3)] == [False] * 3
    assert (outbox.count, outbox.attempts, len(machine.said)) == (0, set(), 1)
    outbox.folder.mkdir()
    assert outbox.put(delivery(Credential(7, "n"), TRUE[0]))


def test_a_time_too_short_to_be_measured_is_none() -> None:
    """Speeds are quotients by it."""
    sent_document = document(delivery(Credential(7, "n"), TRUE[0]))
    assert converted({**sent_document, "seconds": 1e-320}, Delivery).evaluation.seconds == 0.0
