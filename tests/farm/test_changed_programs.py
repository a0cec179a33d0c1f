"""A program whose files change while it runs computes nothing: no result may say that other kernels made it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.pools import process_pool
from jobs.run.effort import WorkersKeepDying
from jobs.run.identity import Identity
from jobs.run.loop import Run
from jobs.run.sources import LedgerTasks
from langford import provenance
from langford.devices import CPU
from tests.support.campaigns import KEY, NAME, PLAN
from tests.support.databases import new_ledger


def test_workers_that_start_after_a_change_refuse(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(process_pool, "kernel_hash", lambda: "0123456789abcdef")
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        campaign = ledger.create_campaign(NAME, KEY, PLAN.work.tolist())
        with pytest.raises(WorkersKeepDying):
            Run(LedgerTasks(ledger, campaign, Identity.fresh()), [CPU]).run()
        standing = campaign.standing()
        assert standing.tasks_done == 0
        assert {task.failures for task in campaign.task_records()} == {0}
    assert (
        f"its kernels were 0123456789abcdef and are {provenance.kernel_hash()} now; start it again"
        in capfd.readouterr().err
    )


def test_an_installation_without_kernels_has_no_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hash of nothing would be one that any two such installations share."""
    monkeypatch.setattr(provenance, "COMPUTING", ("gone",))
    with pytest.raises(provenance.InstallationChanged, match=r"no kernels are left in .*langford: install"):
        provenance.kernel_hash.__wrapped__()
