"""A real server, real workers, and what goes wrong between them: after each fault the exact count."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from db import Delivery
from db.schema.models import Attempt
from db.states import Ending
from jobs.reach.identity import Identity
from jobs.reach.remote import RemoteCampaign, ServerRefuses
from langford.arithmetic.residue import residue
from langford.devices import cores
from langford.result import Evaluation
from tests.farm.farm import NAME, Farm, Proxy, slowed
from tests.support.cases import exhaustive
from tests.support.command_line import Run, planted


def test_a_server_killed_again_and_again(farm: Farm) -> None:
    workers = [farm.work() for _ in range(2)]
    for share in (0.2, 0.5):
        farm.wait_until(lambda share=share: farm.done() > share * farm.campaign.tasks)  # type: ignore[misc]
        farm.server.kill()
        farm.server.wait()
        time.sleep(0.7)
        farm.server = farm.serve()
    farm.finish(*workers)


def test_a_worker_never_loads_the_database(farm: Farm) -> None:
    farm.finish(farm.work(**planted(farm.folder / "without", "import sys; sys.modules['sqlalchemy'] = None")))


@pytest.mark.parametrize("times", [1, *exhaustive([2])])
def test_workers_killed_at_random(farm: Farm, times: int) -> None:
    chance = random.Random(7)
    for _ in range(times):
        before = farm.done()
        workers = [farm.work("--lease", "2", in_process=False) for _ in range(2)]
        farm.wait_until(lambda before=before: farm.done() > before + 5)  # type: ignore[misc]
        time.sleep(chance.uniform(0, 0.5))
        for worker in workers:
            worker.kill()
            worker.wait()
    farm.finish(farm.work())


@pytest.mark.parametrize("shift", [*exhaustive([-3600]), 3600])
def test_a_worker_whose_clock_is_an_hour_off(farm: Farm, shift: int) -> None:
    shifted = planted(
        farm.folder / "shifted",
        "import os, time\nreal = time.time\ntime.time = lambda: real() + float(os.environ['SHIFT'])\n",
    )
    farm.finish(farm.work(**shifted, SHIFT=str(shift)))
    attempts = farm.campaign.progress().attempts
    assert attempts == {"done": farm.campaign.tasks}  # no lease ran out
    # What they say of their own times counts from the server's clock.
    with farm.ledger.database.reading() as connection:
        query = select(Attempt.granted, Attempt.began, Attempt.ended)
        times = [tuple(row) for row in connection.execute(query)]
    assert all(granted < began < ended for granted, began, ended in times)
    assert {worker.ending for worker in farm.workers()} == {Ending.FINISHED}


def test_sigterm_gives_leases_back(farm: Farm) -> None:
    worker = farm.work(in_process=False, SLURM_JOB_ID="1241", SLURM_ARRAY_JOB_ID="1234", SLURM_ARRAY_TASK_ID="7")
    farm.wait_until(lambda: farm.done() > 5)
    worker.send_signal(signal.SIGTERM)
    _, errors = worker.communicate(timeout=30)
    assert "stopped by SIGTERM: " in errors
    assert worker.returncode == 128 + signal.SIGTERM
    progress = farm.campaign.progress()
    assert "leased" not in progress.tasks
    assert progress.attempts.get("preempted", 0) > 0
    [left] = farm.workers()
    assert (left.ending, left.processes, left.cores) == (Ending.PREEMPTED, 1, cores())
    assert (left.slurm_job, left.slurm_index) == ("1234", 7)
    assert not list((farm.folder / "outbox").iterdir())


def test_a_time_limit_drains(farm: Farm) -> None:
    worker = farm.work("--time-limit", "4", **slowed(farm.folder, 0.5))
    _, errors = worker.communicate(timeout=60)
    assert "stopped, the time limit is near: " in errors
    assert worker.returncode == 3
    assert "leased" not in farm.campaign.progress().tasks
    assert [worker.ending for worker in farm.workers()] == [Ending.STOPPED]


def test_a_network_that_is_cut(farm: Farm) -> None:
    proxy = Proxy(farm.port)
    workers = [farm.work(port=proxy.port, outbox=f"outbox-{k}") for k in range(2)]
    for share in (0.1, 0.3, 0.5):
        farm.wait_until(lambda share=share: farm.done() > share * farm.campaign.tasks)  # type: ignore[misc]
        proxy.cut = True
        time.sleep(1)
        proxy.cut = False
    farm.finish(*workers)


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
    stopped.communicate(timeout=60)
    assert not list(outbox.rglob("*.result.json"))
    tasks = {task.index for task in farm.campaign.task_records("done")}
    assert len(tasks) >= 5 + len(kept)


def test_a_full_disk_under_the_outbox(farm: Farm, small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(b"0" * 2**16)
    worker = farm.work(outbox=str(small_disk / "outbox"))
    _, errors = worker.communicate(timeout=150)
    assert "No space left" in errors
    farm.finish(worker) if worker.returncode == 0 else pytest.fail(errors)


def test_a_worker_that_lies_is_found_out(farm: Farm) -> None:
    farm.campaign.set_recheck_share(0.05)
    farm.server.kill()
    farm.server.wait()
    farm.server = farm.serve()
    plan = farm.campaign.plan
    liar, me = RemoteCampaign(f"http://127.0.0.1:{farm.port}/{NAME}", farm.token), Identity.fresh()
    liar.enrol(me)  # on the host of this test
    for lease in liar.lease(me.worker_id, 6, 60, []):
        true = plan.evaluate(lease.index)
        value = true.value + (1 << plan.expectation(lease.index).zero_bits)
        forged = replace(true, value=value, residue=residue(value))
        delivery = Delivery.of(lease, Evaluation(forged, 0.5, "{}"))
        assert [receipt.event for receipt in liar.deliver([delivery])] == [None]
    workers = [farm.work_on(host) for host in ("first", "second")]
    farm.wait_until(lambda: farm.campaign.progress().attempts.get("done", 0) > 20)
    with pytest.raises(ServerRefuses, match="no more tasks"):
        farm.wait_until(lambda: liar.lease(me.worker_id, 1, 0.1, []) is None)
    farm.finish(*workers)
    assert farm.campaign.progress().rechecks < 0.05 * farm.campaign.tasks


def test_a_wrong_token_ends_the_worker(farm: Farm) -> None:
    farm.token = "wrong"
    worker = farm.work()
    _, errors = worker.communicate(timeout=60)
    assert worker.returncode == 2
    assert "refuses" in errors


def test_a_server_that_anyone_could_hear_is_refused(langford: Run, tmp_path: Path) -> None:
    langford("create", "langford", "7")
    done = langford("serve", "langford-7-polyphase-0", "--host", "0.0.0.0")
    assert done.returncode == 2
    assert "--certificate" in done.stderr


def test_tls(farm: Farm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, certificate = tmp_path / "server.key", tmp_path / "server.pem"
    made = subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "1",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
            "-keyout",
            str(key),
            "-out",
            str(certificate),
        ],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("needs openssl")
    farm.server.kill()
    farm.server.wait()
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    server = farm.start(
        "serve", NAME, "--port", str(farm.port), "--certificate", str(certificate), "--key", str(key)
    )
    url = f"https://localhost:{farm.port}/{NAME}"
    farm.finish(farm.start("work", url, "--certificate", str(certificate), "--workers", "1"))
    server.kill()
