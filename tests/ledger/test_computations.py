"""What an export tells of its workers and times, and what an import keeps of it; on both databases."""

from __future__ import annotations

import getpass
import gzip
import hashlib
import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from sqlalchemy import select, text, update

from db import Export, Ledger, joined, read_export
from db.errors import BadExport
from db.machines import Machine
from db.records import Computation
from db.schema.models import Attempt, Event, Worker
from db.states import EventKind
from jobs.verify import exchange
from langford.result import Evaluation
from tests.support import malicious_exports
from tests.support.campaigns import HOUR, KEY, NAME, PLAN, TASKS, TRUE, true_deliveries
from tests.support.enrolling import enrol

GPU = Machine("node-1", "cuda", 96, 4, "NVIDIA H200", "1234", 7)
CPU = Machine("node-2", "cpu", 8, 8, "a chip", None, None)
START = 1_750_000_000.0


def export_with_computations() -> Export:
    """All results: of even tasks by a GPU, of odd ones by a processor, of the last one nothing is known."""
    computations = {
        index: Computation(
            index % 2,
            CPU if index % 2 else GPU,
            START + 10 * index,
            None if index == 3 else START + 10 * index + 0.125,
            START + 10 * index + 9.5,
        )
        for index in range(TASKS - 1)
    }
    results = tuple(
        Evaluation(result, 0.25, "{}", computations[result.index].began if result.index in computations else None)
        for result in TRUE
    )
    return Export(NAME, KEY, TASKS, results, computations)


def written(folder: Path, export: Export, name: str = "seven.jsonl.gz") -> Path:
    file = folder / name
    file.write_bytes(export.to_bytes())
    return file


def events(ledger: Ledger) -> list[str]:
    with ledger.database.reading() as connection:
        query = select(Event.detail).where(Event.kind == EventKind.IMPORT).order_by(Event.id)
        return list(connection.scalars(query))


def test_what_is_told_is_read(tmp_path: Path) -> None:
    export = export_with_computations()
    file = written(tmp_path, export)
    read = read_export(file)
    assert read == export
    assert read.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    turned = replace(export, results=export.results[::-1], computations=dict(reversed(export.computations.items())))
    assert turned.to_bytes() == export.to_bytes()


def test_an_import_keeps_workers_and_times(ledger: Ledger, tmp_path: Path) -> None:
    file = written(tmp_path, export_with_computations())
    campaign, taken = exchange.take(ledger, file)
    assert taken == [None] * TASKS
    query = select(
        Attempt.task_index, Attempt.granted, Attempt.began, Attempt.ended, Worker.host, Worker.slurm_index
    ).join(Worker, Worker.id == Attempt.worker_id)
    machines = select(Worker.host, Worker.started, Worker.ended, Worker.device_model)
    with ledger.database.reading() as connection:
        attempts = connection.execute(query.order_by(Attempt.task_index)).all()
        workers = connection.execute(machines.where(Worker.process == "imported").order_by(Worker.host)).all()
        throughput = connection.execute(text("SELECT * FROM throughput")).all()
    assert tuple(attempts[0]) == (0, START, START + 0.125, START + 9.5, "node-1", 7)
    assert tuple(attempts[3]) == (3, START + 30, None, START + 39.5, "node-2", None)
    assert abs(attempts[-1].granted - time.time()) < HOUR  # nothing is known of this one: it counts from now
    assert [tuple(worker) for worker in workers] == [
        ("node-1", START, START + 89.5, "NVIDIA H200"),
        ("node-2", START + 10, START + 79.5, "a chip"),
    ]
    assert throughput == []  # of workers of this ledger
    again = campaign.reader.export()
    assert again.computations == export_with_computations().computations
    assert again.to_bytes() == file.read_bytes()
    assert exchange.take(ledger, file)[1] == []  # skipped


def test_an_import_is_an_event(ledger: Ledger, tmp_path: Path) -> None:
    file = written(tmp_path, export_with_computations(), "strange\x1b name.gz")
    for _ in range(2):  # the second time nothing is new
        exchange.take(ledger, file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    [detail] = events(ledger)
    assert detail == (
        f"{TASKS} of {TASKS} results are new here; they come from strange? name.gz, SHA-256 {digest}, imported by "
        f"{getpass.getuser()} on {os.uname().nodename}; no promise recorded"
    )


def test_what_workers_did_is_exported(ledger: Ledger, tmp_path: Path) -> None:
    campaign = ledger.create_campaign(NAME, KEY, PLAN.work.tolist())
    enrol(ledger, "a", "host-a", "1", "cuda", **GPU.equipment)
    enrol(ledger, "b", "host-b", "1")
    for worker in "ab":
        leases = campaign.worker.lease(worker, TASKS // 2, HOUR)
        evaluated = [structs.replace(delivery, began=time.time()) for delivery in true_deliveries(leases)]
        campaign.worker.deliver(evaluated)
    file = written(tmp_path, campaign.reader.export())
    read = read_export(file)
    assert set(read.computations) == set(range(TASKS))
    assert {computation.machine.host for computation in read.computations.values()} == {"host-a", "host-b"}
    for computation in read.computations.values():
        assert computation.began is not None
        assert computation.granted <= computation.began <= computation.ended
        if computation.machine.host == "host-a":
            assert (computation.machine.device_kind, computation.machine.equipment) == ("cuda", GPU.equipment)
    content = gzip.decompress(file.read_bytes())
    assert b'"a"' not in content  # the names of workers are their secrets


def test_a_file_of_an_earlier_version_is_read_and_written_as_it_was(ledger: Ledger, tmp_path: Path) -> None:
    file = tmp_path / "old.gz"
    file.write_bytes(malicious_exports.packed(malicious_exports.honest()))
    campaign, _ = exchange.take(ledger, file)
    assert read_export(file).computations == campaign.reader.export().computations == {}
    assert gzip.decompress(campaign.reader.export().to_bytes()) == gzip.decompress(file.read_bytes())


def test_joined_files_keep_their_workers_apart() -> None:
    export = export_with_computations()
    halves = [
        replace(
            export,
            results=export.results[part],
            computations={index: export.computations[index] for index in range(TASKS - 1)[part]},
        )
        for part in (slice(0, 5), slice(5, None))
    ]
    whole = joined(halves)
    assert set(whole.computations) == set(export.computations)
    # What has the same number in two files may be another worker.
    assert len({computation.worker for computation in whole.computations.values()}) == 4
    assert whole.computations[0].granted == START


def test_a_clock_that_was_ahead_is_not_believed(ledger: Ledger, tmp_path: Path) -> None:
    export = export_with_computations()
    late = {0: replace(export.computations[0], ended=time.time() + HOUR)}
    exchange.take(ledger, written(tmp_path, replace(export, computations=late)))
    with ledger.database.reading() as connection:
        assert connection.scalar(select(Attempt.ended).where(Attempt.task_index == 0)) < time.time() + HOUR / 2


# -- files of strangers ---------------------------------------------------------------------------


MISSING = object()
WRONG: dict[str, dict[str, list[Any]]] = {
    "results": {"workers": [-1, 1, 3, TASKS + 1, "2", None]},
    "host": {
        "host": ["x" * 256, "\x1b[2J"],
        "device_kind": ["tpu", ["cpu"]],
        "cores": [-1],
        "processes": [2**31],
        "device_model": ["x" * 201],
        "slurm_job": [7],
        "more": [1],
    },
    "task": {
        "worker": [2, "0", MISSING],
        "granted": [START + 5, -1.0, MISSING],
        "began": [START + 100, "now", MISSING],
        "ended": [None, 1e300, MISSING],
    },
}
"""What no header, no worker and no result says, by a field that only such a line has."""


def test_a_history_that_cannot_be_is_refused(tmp_path: Path) -> None:
    content = gzip.decompress(export_with_computations().to_bytes()).splitlines()[:-1]  # without the seal
    file = tmp_path / "wrong.gz"
    for line, fields in WRONG.items():
        for field, value in ((field, value) for field, values in fields.items() for value in values):
            documents = [json.loads(each) for each in content]
            changed = next(document for document in documents if line in document)
            if value is MISSING:
                del changed[field]
            else:
                changed[field] = value
            file.write_bytes(malicious_exports.packed(documents))
            with pytest.raises(BadExport):
                read_export(file)


def test_a_clock_that_went_back_leaves_an_export_that_can_be_read(ledger: Ledger, tmp_path: Path) -> None:
    campaign, _ = exchange.take(ledger, written(tmp_path, export_with_computations()))
    with ledger.database.writing() as connection:
        connection.execute(update(Attempt).where(Attempt.task_index == 0).values(ended=Attempt.granted - 3))
        connection.execute(update(Attempt).where(Attempt.task_index == 1).values(began=Attempt.ended + 3))
    again = read_export(written(tmp_path, campaign.reader.export(), "again.jsonl.gz"))
    assert again.computations[0].granted == again.computations[0].began == again.computations[0].ended == START - 3
    assert again.computations[1].began == again.computations[1].ended


def test_provenances_that_are_too_long_for_a_file_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("writing", "reading"):
        monkeypatch.setattr(f"db.files.{module}.MAX_SOURCES", 100 * TASKS)
    results = tuple(Evaluation(result, 0.25, f"{result.index}" + 300 * "x") for result in TRUE)
    read = read_export(written(tmp_path, Export(NAME, KEY, TASKS, results)))
    assert [each.result for each in read.results] == TRUE
    assert {len(each.provenance) for each in read.results} == {100}
