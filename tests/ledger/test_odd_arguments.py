"""What a program may give by mistake: an error of ours, as on the command line."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from pathlib import Path

import pytest

import langford
from db.errors import LedgerUnusable, NoLedger
from langford.devices import BadDevice
from langford.errors import BadInput, BadProblem


@pytest.mark.parametrize("where", ["\0", "a\0.db", "x" * 300, b"x.db", None, 7])
def test_what_cannot_be_a_ledger(where: str) -> None:
    with pytest.raises(LedgerUnusable, match=r"no name of a file and no URL|too long"):
        langford.Ledger(where)


def test_a_wrong_name_makes_no_ledger(tmp_path: Path) -> None:
    with langford.Ledger(tmp_path / "records.db", create=True):
        pass
    before = sorted(tmp_path.iterdir())
    with pytest.raises(NoLedger, match=r"record.db \(did you mean records.db\?\).*create=True"):
        langford.Ledger(tmp_path / "record.db")
    assert sorted(tmp_path.iterdir()) == before


def test_true_is_no_number(tmp_path: Path) -> None:
    with (
        langford.Ledger(tmp_path / "a.db", create=True) as ledger,
        pytest.raises(BadProblem, match="must be a whole number, not True"),
    ):
        ledger.campaign(True)


@pytest.mark.parametrize("seconds", [float("nan"), -1, "3"])
@pytest.mark.parametrize("limit", ["time_limit", "patience"])
def test_times_that_are_none(tmp_path: Path, limit: str, seconds: float) -> None:
    with langford.Ledger(tmp_path / "a.db", create=True) as ledger:
        campaign = ledger.campaign(8)
        run: Callable[..., object] = campaign.run
        with pytest.raises(BadInput, match=f"{limit} must be a number of seconds, 0 or more"):
            run(**{limit: seconds})


@pytest.mark.parametrize("devices", [None, 1, [], "", [None], "none"])
def test_devices_that_are_none(tmp_path: Path, devices: object) -> None:
    with langford.Ledger(tmp_path / "a.db", create=True) as ledger:
        run: Callable[..., object] = ledger.campaign(8).run
        with pytest.raises(BadDevice, match="device"):
            run(devices=devices)


def computed(file: str) -> tuple[int, int]:
    with langford.Ledger(file, create=True) as ledger:
        campaign = ledger.campaign(7, depth=4)
        return campaign.run().tasks_here, campaign.count().published


@pytest.mark.exhaustive
def test_a_worker_of_a_pool_computes_itself(tmp_path: Path) -> None:
    """Its process is a daemon, which may start no others."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        [(tasks, count)] = pool.map(computed, [str(tmp_path / "a.db")])
    assert (tasks > 0, count) == (True, 26)
