"""A real server, real workers, and what goes wrong between them: after each fault the exact count.

``tests/system/test_soak.py`` kills many of them at random moments.
"""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest
from sqlalchemy import select

from db.identity import Identity
from db.schema.models import Attempt
from db.states import Ending
from langford.devices import cores
from tests.support.campaigns import HOUR, new_campaign, task_records
from tests.support.command_line import Run, planted
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol
from tests.support.farm import Farm, Proxy


@pytest.mark.exhaustive
def test_a_worker_never_loads_the_database_and_its_clock_may_be_an_hour_off(farm: Farm) -> None:
    program = "sys.modules['sqlalchemy'] = None\nreal = time.time\ntime.time = lambda: real() + 3600\n"
    farm.finish(farm.work(**planted(farm.folder / "odd", f"import sys, time\n{program}")))
    attempts = farm.campaign.reader.overview().attempts
    assert attempts == {"done": farm.campaign.tasks}  # no lease ran out
    # What they say of their own times counts from the server's clock.
    with farm.ledger.database.reading() as connection:
        query = select(Attempt.granted, Attempt.began, Attempt.ended)
        times = [tuple(row) for row in connection.execute(query)]
    assert all(granted < began < ended for granted, began, ended in times)
    assert {worker.ending for worker in farm.workers()} == {Ending.FINISHED}


@pytest.mark.exhaustive
def test_a_full_disk_under_the_outbox(farm: Farm, small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(b"0" * 2**16)
    worker = farm.work(outbox=str(small_disk / "outbox"))
    _, errors = worker.communicate(timeout=150)
    assert "No space left" in errors
    farm.finish(worker)


@pytest.mark.exhaustive
def test_sigterm_gives_leases_back(farm: Farm) -> None:
    worker = farm.work(in_process=False, SLURM_JOB_ID="1241", SLURM_ARRAY_JOB_ID="1234", SLURM_ARRAY_TASK_ID="7")
    farm.wait_until(lambda: farm.done() > 5)
    worker.send_signal(signal.SIGTERM)
    _, errors = worker.communicate(timeout=30)
    assert re.search(r"stopped by SIGTERM: \d+ tasks? done here, \d+ leases? given back$", errors, re.MULTILINE)
    assert worker.returncode == 128 + signal.SIGTERM
    reader = farm.campaign.reader
    assert "leased" not in reader.standing().tasks
    assert reader.overview().attempts.get("preempted", 0) > 0
    [left] = farm.workers()
    assert (left.ending, left.processes, left.cores) == (Ending.PREEMPTED, 1, cores())
    assert (left.slurm_job, left.slurm_index) == ("1234", 7)
    assert not list((farm.folder / "outbox").iterdir())


@pytest.mark.exhaustive
def test_a_network_that_is_cut_and_a_server_that_is_killed(farm: Farm) -> None:
    proxy = Proxy(farm.port)
    workers = [farm.work(port=proxy.port, outbox=f"outbox-{k}") for k in range(2)]
    for number in range(1, 4):
        before = farm.done()
        farm.wait_until(lambda before=before: farm.done() > before + 5)  # type: ignore[misc]
        if number % 2:
            proxy.cut = True
        else:
            farm.server.kill()
            farm.server.wait()
        farm.wait_until(lambda: any((farm.folder / f"outbox-{k}").rglob("*.result.json") for k in range(2)))
        proxy.cut = False
        if farm.server.poll() is not None:
            farm.server = farm.serve()
    farm.finish(*workers)


@pytest.mark.exhaustive
def test_sigterm_is_heard_while_the_server_hangs(farm: Farm) -> None:
    worker = farm.work("--lease", "600")
    farm.wait_until(lambda: farm.done() > 3)
    farm.server.send_signal(signal.SIGSTOP)
    farm.wait_until(lambda: any((farm.folder / "outbox").rglob("*.result.json")))  # it waits for an answer
    worker.send_signal(signal.SIGTERM)
    try:
        _, errors = worker.communicate(timeout=60)
    finally:
        farm.server.send_signal(signal.SIGCONT)
    assert worker.returncode == 143
    assert "(SIGTERM: the server does not answer)" in errors
    farm.campaign.operator.take_back("its worker has left")
    farm.finish(farm.work())


def test_an_operator_takes_leases_back(langford: Run, tmp_path: Path) -> None:
    ids = [Identity.fresh().worker_id for _ in range(3)]
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        campaign = new_campaign(ledger)
        for number, worker in enumerate(ids, 1):
            enrol(ledger, worker, f"node{number}", "1")
            campaign.worker.lease(worker, 3, HOUR)
        name = campaign.name
        back = f"3 tasks of {name} returned to the queue, from 1 worker\n"
        assert langford("release", name, "--worker", "node1").stdout == back
        assert langford("release", name, "--worker", ids[1][:8]).stdout == back
        for other in ("node1", ids[2][:3], ""):
            unknown = langford("release", name, "--worker", other)
            assert unknown.returncode == 2
            assert f"those that do: {ids[2][:8]} on node3" in unknown.stderr
        assert campaign.reader.standing().tasks["leased"] == 3
        assert langford("release", name).returncode == 0
        assert "leased" not in campaign.reader.standing().tasks


@pytest.mark.exhaustive
def test_results_of_a_dead_worker_are_delivered_by_the_next(farm: Farm) -> None:
    worker = farm.work("--lease", "60", in_process=False)
    farm.wait_until(lambda: farm.done() > 5)
    farm.server.kill()
    farm.server.wait()
    outbox = farm.folder / "outbox"
    farm.wait_until(lambda: len(list(outbox.rglob("*.result.json"))) > 0)
    worker.kill()
    worker.wait()
    kept = [int(file.name.partition(".")[0]) for file in outbox.rglob("*.result.json")]
    farm.server = farm.serve()
    stopped = farm.work("--time-limit", "0")
    _, errors = stopped.communicate(timeout=60)
    assert (stopped.returncode, "stopped at the time limit: " in errors) == (3, True)
    assert not list(outbox.rglob("*.result.json"))
    tasks = {task.index for task in task_records(farm.campaign, "done")}
    assert len(tasks) >= 5 + len(kept)
