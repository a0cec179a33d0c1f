"""The public face: what ``langford`` exports, and a ledger used from Python."""

from __future__ import annotations

import inspect
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

import db
import jobs
import langford
import slurm
from db.errors import BadName, NoSuchCampaign
from jobs.pools.evaluation import InProcessPool
from jobs.pools.pool import Pool
from jobs.reach import campaign as reach
from jobs.reach.outbox import Outbox
from jobs.run.loop import Run
from jobs.run.source import TaskSource
from jobs.verify.verification import Verification
from langford import errors
from langford.devices import CPU
from langford.methods import Method, chosen_plan
from langford.methods.plan import Evaluator
from langford.problem import Problem
from tests.support.command_line import ENVIRONMENT

SCRIPT = """
import pathlib, sys, langford, langford.methods
heavy = {"numpy", "numba", "sqlalchemy", "db", "jobs", "slurm"}
assert not heavy & sys.modules.keys()
with langford.Ledger(pathlib.Path("records.db"), create=True) as ledger:
    campaign = ledger.campaign(langford.plan(langford.Problem.skolem(9), depth=6))
    print(repr(campaign))
    assert campaign.run(devices=["cpu"]).tasks_here == campaign.tasks
    print(repr(campaign.count()), len(campaign.reader.results()), campaign.reader.overview().count)
"""


FACE = [getattr(langford, name) for name in langford.__all__] + [getattr(slurm, name) for name in slurm.__all__]
FACE += [Method, Evaluator, reach.Campaign, Outbox, TaskSource, Run, Pool, Verification]
"""What programs use, and what the rooms of jobs give to others."""


def functions_of(each: object) -> Iterator[tuple[str, FunctionType]]:
    """It, or the public methods of a class and its bases here, without those that dataclass makes."""
    if isinstance(each, FunctionType):
        yield each.__name__, each
    for kind in each.__mro__ if isinstance(each, type) else ():
        if kind.__module__.split(".")[0] in {"langford", "db", "jobs", "slurm"}:
            for name, member in vars(kind).items():
                function = inspect.unwrap(getattr(member, "__func__", member))
                is_public = name == "__init__" or not name.startswith("_")
                if isinstance(function, FunctionType) and is_public and is_written_in(function, kind):
                    yield f"{kind.__module__}.{kind.__name__}.{name}", function


def is_written_in(function: FunctionType, kind: type) -> bool:
    return function.__code__.co_filename == inspect.getsourcefile(kind)


def test_public_functions_describe_their_arguments() -> None:
    """Those that take several: one alone may be said in the first sentence."""
    silent = [
        name
        for each in FACE
        for name, function in functions_of(each)
        if len({*inspect.signature(function).parameters} - {"self", "cls"}) > 1
        and "Args:" not in (function.__doc__ or "")
    ]
    assert silent == []


def test_it_exports_its_errors() -> None:
    classes = {name: each for name, each in vars(errors).items() if isinstance(each, type)}
    defined = {name for name, each in classes.items() if issubclass(each, Exception)}
    assert defined <= {*langford.__all__}
    assert all(getattr(langford, name) is getattr(errors, name) for name in defined)


def test_type_checkers_and_programs_find_every_public_name() -> None:
    assert all((Path(package.__file__).parent / "py.typed").exists() for package in (langford, db, jobs, slurm))
    assert all(getattr(langford, name) is not None for name in langford.__all__)
    with pytest.raises(AttributeError, match="'langford' has no attribute 'cuont'"):
        _ = langford.cuont  # type: ignore[attr-defined]


def test_a_task_may_be_any_whole_number() -> None:
    plan = langford.plan(12, depth=8)
    assert repr(plan.evaluate(np.int64(1), "cpu")) == repr(plan.evaluate(1))
    for wrong in (1.0, "1", None, 6, -1):
        with pytest.raises(langford.TaskIndexOutOfRange):
            plan.evaluate(wrong)  # type: ignore[arg-type]
    with pytest.raises(langford.BadDevice):
        plan.evaluate(1, "gpu")


@pytest.mark.exhaustive
def test_a_script_without_a_guard_counts_in_a_ledger(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-"],
        input=SCRIPT,
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    campaign, counted = done.stdout.splitlines()
    tasks = int(campaign.split()[2])
    assert campaign.startswith("<Campaign skolem-9-")
    assert campaign.endswith(", in records.db>")
    assert counted == f"<Count Skolem(2,9) = 1328> {tasks} 1328"


def test_a_run_continues_under_the_name_that_its_campaign_has_meanwhile(tmp_path: Path) -> None:
    with langford.Ledger(tmp_path / "l.db", create=True) as ledger:
        campaign = ledger.campaign(7, "polyphase", 4)
        ledger.named(campaign.name).operator.rename("seven")
        campaign.run(pool_of=InProcessPool)
        assert campaign.name == "seven"
        assert [each.name for each in ledger.campaigns()] == ["seven"]


def test_a_run_asks_its_ledger_nothing_that_it_cannot_abandon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call from the main thread would keep a signal waiting while the ledger does not answer."""
    asked: list[threading.Thread] = []
    monkeypatch.setattr(db.Campaign, "refresh", lambda campaign: asked.append(threading.current_thread()))
    with langford.Ledger(tmp_path / "l.db", create=True) as ledger:
        ledger.campaign(7, "polyphase", 4).run(pool_of=InProcessPool)
    assert asked
    assert threading.main_thread() not in asked


def test_the_same_call_resumes_its_campaign(tmp_path: Path) -> None:
    chosen = partial(chosen_plan, Problem.langford(8), CPU)
    with langford.Ledger(str(tmp_path / "records.db"), create=True) as ledger:
        assert ledger.begun(chosen()) is None
        other = ledger.campaign(8, "shifted2", depth=0)
        assert ledger.begun(chosen()) is None  # it has another method than the rule chooses
        first = ledger.campaign(8, "polyphase", depth=4)
        assert ledger.campaign(8) == ledger.campaign("langford-8-polyphase-4") == ledger.begun(chosen()) == first
        assert ledger.campaign(8, "shifted2") == other
        assert ledger.begun(chosen(seed=3)) is None
        assert ledger.campaign(8, seed=3, name="third").key.seed == 3
        assert ledger.begun(chosen(), "third") == ledger.campaign("third")
        with pytest.raises(langford.BadDevice, match="needs a device"):
            first.run(devices=[])
        with pytest.raises(langford.Incomplete):
            first.count()
        with pytest.raises(NoSuchCampaign):
            ledger.campaign("fourth")
        with pytest.raises(langford.BadInput, match="more than 0 seconds, not -1"):
            ledger.campaign(8, task_seconds=-1)
        with pytest.raises(BadName, match="8 means the problem"):
            ledger.campaign(8, name="8")
        assert [type(campaign) for campaign in ledger.campaigns()] == [langford.Campaign] * 3
    with db.Ledger(str(tmp_path / "records.db")) as ledger:
        assert ledger.campaign("third").key.seed == 3
