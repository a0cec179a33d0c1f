"""An outbox in which somebody put files of every kind and name: it sends what is a result, and goes on."""

from __future__ import annotations

import errno
import os
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from db import Credential, Delivery
from db.identity import Identity
from db.states import EventKind
from jobs.reach import outbox_files
from jobs.reach.outbox import Outbox
from langford.machine.durable import FileTooLarge, NotRegular, content, lock_file, regular_content
from tests.farm.test_outbox import CAMPAIGN, Machine, die, info
from tests.support.campaigns import TRUE, deliver, delivery, new_campaign
from tests.support.databases import ledger_of_a_test
from tests.support.hostile_files import forged, plant

KEPT = delivery(Credential(7, "n"), TRUE[0])
GENUINE = outbox_files.sealed(info(), "kernels", KEPT)
DEAD = str(uuid.UUID(int=4, version=4))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "box")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "mine").write_text("precious")
    return folder


def untouched(outside: Path) -> bool:
    return (outside / "mine").read_text() == "precious" and len(list(outside.iterdir())) <= 2


def refused(outbox: Outbox, wanted: Delivery) -> None:
    """Refuse all that a server would refuse."""
    for waiting in outbox.waiting():
        if waiting != wanted:
            outbox.refuse(waiting, "the nonce is not that of attempt")


def test_everything_in_the_folder_is_sent_or_set_apart(machine: Machine, outside: Path) -> None:
    outbox = machine.outbox()
    outbox.put(KEPT)
    made = plant(outbox.folder, GENUINE, outside)
    refused(outbox, KEPT)
    assert outbox.waiting() == [KEPT]
    assert outbox.count == 1
    left = [file for file in made if os.path.lexists(file)]
    # What no other name is to be given, because its own is too long for a quarantine, has only lost its beginning.
    assert left == []
    assert len(machine.said) == len(machine.quarantined()) == len(made)
    outbox.remove(KEPT)
    assert outbox.count == 0
    outbox.close()
    assert untouched(outside)
    assert [entry.name for entry in machine.root.iterdir()] == ["quarantine"]


def test_what_a_dead_worker_left_is_taken_over_with_all_of_it(machine: Machine, outside: Path) -> None:
    dead = machine.outbox()
    dead.put(KEPT)
    made = plant(dead.folder, GENUINE, outside)
    others = [dead.folder / name for name in ("copy of 10.result.json.bak", ".hidden", "\n")]
    for other in others:
        other.write_text("mine")
    (dead.folder / "a folder").mkdir()
    os.mkfifo(dead.folder / "a pipe")
    (dead.folder / "a link").symlink_to(outside)
    die(dead)
    heir = machine.outbox()
    refused(heir, KEPT)
    assert heir.waiting() == [KEPT]
    assert not dead.folder.exists()
    assert untouched(outside)
    assert len(machine.quarantined()) == len(made) + len(others) + 3


def test_a_copy_is_sent_once_and_removed_with_it(machine: Machine) -> None:
    outbox = machine.outbox()
    outbox.put(KEPT)
    [file] = outbox.folder.iterdir()
    for name in ("copy of 10.result.json", f"copy of {file.name}"):
        file.with_name(name).write_bytes(file.read_bytes())
    assert outbox.waiting() == [KEPT]
    outbox.remove(KEPT)
    assert (outbox.waiting(), outbox.count) == ([], 0)
    assert not list(outbox.folder.iterdir())
    assert not machine.said


def test_a_copy_that_is_refused_is_moved_under_its_own_name(machine: Machine) -> None:
    outbox = machine.outbox()
    names = ["copy of 10.result.json", "x.result.json"]
    for name in names:
        (outbox.folder / name).write_bytes(GENUINE)
    assert outbox.waiting() == [KEPT]
    outbox.refuse(KEPT, "no such attempt")
    assert (outbox.waiting(), outbox.count) == ([], 0)
    assert not list(outbox.folder.iterdir())
    kept = [file.name for file in (machine.root / "quarantine").iterdir()]
    assert all(any(file.endswith(f"-{name}") for file in kept) for name in names)


def test_a_forgery_is_no_result_of_this_campaign(machine: Machine) -> None:
    outbox = machine.outbox()
    for number, forgery in enumerate(forged(GENUINE), 1):
        (outbox.folder / "1.result.json").write_bytes(forgery)
        assert KEPT not in outbox.waiting(), forgery[:300]
        refused(outbox, KEPT)
        assert (outbox.waiting(), outbox.count, len(machine.quarantined())) == ([], 0, number), forgery[:300]
    for reason in ("is not that of the campaign", "the campaign has only"):
        assert any(reason in each for each in machine.quarantined())
    assert "server" not in "".join(machine.quarantined())  # the run may be one of this machine alone


def test_a_result_that_says_more_is_sent(machine: Machine) -> None:
    """As a worker of a later version may write it: a server ignores what it does not know."""
    outbox = machine.outbox()
    (outbox.folder / "1.result.json").write_bytes(GENUINE.replace(b"{", b'{"more": 1, ', 1))
    assert outbox.waiting() == [KEPT]
    assert not machine.said


def test_a_file_that_is_too_large_for_a_result_is_not_read(machine: Machine) -> None:
    outbox = machine.outbox()
    file = outbox.folder / "1.result.json"
    file.write_bytes(GENUINE + b" " * (100_000 - len(GENUINE)))
    assert len(outbox.waiting()) == 1
    file.write_bytes(GENUINE + b" " * (100_001 - len(GENUINE)))
    assert outbox.waiting() == []
    assert [reason for reason in machine.quarantined() if "at most 100,000 bytes" in reason]


Make = Callable[[Path], object]
OTHER_KINDS: list[Make] = [
    lambda place: place.write_text("mine"),
    lambda place: place.symlink_to("/nowhere/at/all"),
    lambda place: os.mkfifo(place),
]
KINDS: list[Make] = [*OTHER_KINDS, lambda place: place.mkdir(parents=True)]


@pytest.mark.parametrize("make", OTHER_KINDS)
def test_a_quarantine_that_is_no_folder(machine: Machine, make: Make) -> None:
    """What cannot be moved is named once, does not count, and is not sent again."""
    outbox = machine.outbox()
    make(machine.root / "quarantine")
    (outbox.folder / "a.result.json").mkdir()
    (outbox.folder / "b.result.json").write_bytes(b"{")
    (outbox.folder / "c.result.json").write_bytes(GENUINE)
    for _ in range(2):
        refused(outbox, delivery(Credential(8, "n"), TRUE[1]))
        assert (outbox.waiting(), outbox.count) == ([], 0)
    assert len(machine.said) == 3
    assert all("delete it" in said for said in machine.said)


@pytest.mark.parametrize("make", KINDS)
def test_something_stands_where_the_lock_of_a_dead_worker_is(machine: Machine, make: Make, outside: Path) -> None:
    (machine.root / CAMPAIGN / DEAD).mkdir(parents=True)
    make(machine.root / CAMPAIGN / f"{DEAD}.lock")
    outbox = machine.outbox()
    assert outbox.waiting() == []


@pytest.mark.parametrize("make", OTHER_KINDS)
def test_something_stands_where_the_folder_of_the_campaign_is(machine: Machine, make: Make) -> None:
    machine.root.mkdir()
    make(machine.root / CAMPAIGN)
    outbox = machine.outbox()
    outbox.put(KEPT)
    assert outbox.waiting() == [KEPT]
    assert len(list(outbox.folder.iterdir())) == 1
    assert len(machine.quarantined()) == 1


@pytest.mark.parametrize("make", KINDS)
def test_something_stands_where_a_result_is_to_be(machine: Machine, make: Make) -> None:
    outbox = machine.outbox()
    outbox.put(KEPT)
    [file] = outbox.folder.iterdir()
    file.unlink()
    make(file)
    outbox.put(KEPT)
    assert outbox.waiting() == [KEPT]
    assert outbox.count == 1
    assert file.read_bytes().startswith(b"{")


def with_a_file_in_the_way(machine: Machine) -> tuple[Outbox, Path]:
    """An outbox, and a file where its result KEPT is to be."""
    outbox = machine.outbox()
    outbox.put(KEPT)
    [file] = outbox.folder.iterdir()
    file.write_bytes(b"mine")
    return outbox, file


def test_a_file_where_a_result_is_to_be_is_not_replaced(machine: Machine) -> None:
    """It is set apart as it is, and the result is on disk."""
    outbox, file = with_a_file_in_the_way(machine)
    assert outbox.put(KEPT)
    assert outbox.waiting() == [KEPT]
    assert len(machine.said) == 1
    [apart] = (machine.root / "quarantine").glob(f"*-{file.name}")
    assert apart.read_bytes() == b"mine"


def test_a_file_that_cannot_be_set_apart_is_not_replaced(machine: Machine) -> None:
    """That ends no worker: the result stays in memory."""
    outbox, file = with_a_file_in_the_way(machine)
    (machine.root / "quarantine").write_text("no folder")
    assert not outbox.put(KEPT)
    assert outbox.waiting() == []
    assert file.read_bytes() == b"mine"
    assert len(machine.said) == 2


def test_links_lead_out_of_no_outbox(machine: Machine, outside: Path) -> None:
    """Of those that stand where folders of campaigns and workers are."""
    (outside / "1.result.json").write_bytes(GENUINE)
    (machine.root / CAMPAIGN).mkdir(parents=True)
    (machine.root / CAMPAIGN / DEAD).symlink_to(outside)
    (machine.root / "link").symlink_to(outside)
    outbox = machine.outbox()
    assert outbox.waiting() == []
    assert untouched(outside)
    assert (outside / "1.result.json").exists()


def test_a_file_of_a_dead_worker_replaces_none_of_the_living(machine: Machine) -> None:
    dead, heir = machine.outbox(), machine.outbox()
    heir.put(KEPT)
    [file] = heir.folder.iterdir()
    (dead.folder / file.name).write_bytes(b"{")
    die(dead)
    heir.adopt()
    assert heir.waiting() == [KEPT]
    assert len(machine.quarantined()) == 1


def test_a_file_that_cannot_be_deleted_is_sent_once(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    outbox = machine.outbox()
    outbox.put(KEPT)

    def unlink(file: Path, missing_ok: bool = False) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "unlink", unlink)
    [waiting] = outbox.waiting()
    outbox.remove(waiting)
    assert (outbox.waiting(), outbox.count) == ([], 0)
    [said] = machine.said
    assert "is delivered and cannot be deleted" in said


def test_a_file_that_cannot_be_read_now_is_left_to_the_next_worker(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = machine.outbox()
    dead.put(KEPT)

    def fail(file: Path, most: int) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as ailing:
        ailing.setattr("jobs.reach.outbox.regular_content", fail)
        assert (dead.waiting(), dead.count) == ([], 0)
    [said] = machine.said
    assert "cannot be read now (Input/output error): the next worker" in said
    die(dead)
    assert machine.outbox().waiting() == [KEPT]
    assert not machine.quarantined()


def test_a_root_that_goes_away_ends_no_worker(machine: Machine, outside: Path) -> None:
    outbox = machine.outbox()
    outbox.put(KEPT)
    machine.root.rename(outside / "moved")
    outbox.adopt()
    assert (outbox.waiting(), outbox.count, outbox.left_behind) == ([], 0, False)
    assert not outbox.put(KEPT)
    outbox.close()


def test_files_that_come_and_go_while_two_workers_look(machine: Machine, outside: Path) -> None:
    """Every delivery of a dead worker gets to one of its heirs."""
    ended = threading.Event()
    errors = list[BaseException]()
    seen = set[str]()

    def work() -> None:
        try:
            outbox = Outbox(machine.root, Identity.fresh(), machine.console)
            outbox.open(info())
            while not ended.is_set():
                outbox.adopt()
                for waiting in outbox.waiting():
                    seen.add(waiting.nonce)
                    outbox.remove(waiting)
            outbox.close()
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for number in range(30):
        left = outside / "left"
        left.mkdir()
        result = delivery(Credential(number, f"nonce {number}"), TRUE[0])
        (left / f"{number}.a.result.json").write_bytes(outbox_files.sealed(info(), "kernels", result))
        (left / f"{number}.b.result.json").write_bytes(b"{")
        (machine.root / CAMPAIGN).mkdir(parents=True, exist_ok=True)
        left.rename(machine.root / CAMPAIGN / str(uuid.uuid4()))
    deadline = time.monotonic() + 60
    while len(seen) < 30 and not errors and time.monotonic() < deadline:
        time.sleep(0.01)
    ended.set()
    for worker in workers:
        worker.join()
    assert not errors
    assert len(seen) == 30
    assert len(machine.quarantined()) == 30


def test_a_forged_attempt_is_refused_though_no_column_holds_it(tmp_path: Path) -> None:
    """A result that the ledger could not take would come again and again."""
    with ledger_of_a_test("postgres", tmp_path) as ledger:
        campaign = new_campaign(ledger)
        for attempt in (1, 2**31 - 1, 2**31, 2**53, 2**62):
            assert deliver(campaign, Credential(attempt, "guessed"), TRUE[0]) is EventKind.REFUSED


# -- reading --------------------------------------------------------------------------------------


def test_a_regular_file_is_read_within_its_bound(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert regular_content(file, 5) == content(file, 5) == b"12345"
    for read in (regular_content, content):
        with pytest.raises(FileTooLarge):
            read(file, 4)
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "none", 5)
    with pytest.raises(FileTooLarge):
        content(Path("/dev/zero"), 1_000)


@pytest.mark.parametrize("make", KINDS[1:])
def test_nothing_else_is_opened(tmp_path: Path, make: Make) -> None:
    make(tmp_path / "it")
    with pytest.raises(NotRegular):
        regular_content(tmp_path / "it", 5)
    with pytest.raises(NotRegular):
        lock_file(tmp_path / "it")
    with pytest.raises(NotRegular):
        regular_content(Path("/dev/zero"), 5)
