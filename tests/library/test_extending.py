"""What docs/extending.md says, done: each addition in one place."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import langford
from db import Ledger
from db.identity import Identity
from jobs.pools.evaluation import InProcessPool
from jobs.run.loop import Run
from jobs.run.source import TaskSource
from langford.counting import count_tasks
from langford.devices import CPU
from langford.errors import MethodDoesNotApply
from langford.methods import METHODS, PlanKey, plan_of
from langford.methods.godfrey.cpu import GodfreyOnCpu
from langford.problem import Problem
from langford.problem.variants import VARIANTS, Variant
from slurm import QueueKeeper
from tests.extensions.exact_godfrey import ExactGodfrey
from tests.extensions.inclusion import MAX_PLACES, Inclusion
from tests.extensions.local_queue import LocalQueue, local_script
from tests.support import brute_force
from tests.support.command_line import Run as CommandLine
from tests.support.consoles import KeptConsole
from tests.support.preloaded import ALONE, preloaded

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text()


def true_count(problem: Problem) -> int:
    """The published count, by brute force."""
    return problem.published(brute_force.arrangements(problem))


# -- a method ---------------------------------------------------------------------------------

METHOD_PROBLEMS = [
    Problem.langford(3),
    Problem.langford(5),
    Problem.langford(7),
    Problem.skolem(4),
    Problem.skolem(4, copies=3),
    Problem.named("hooked-skolem", 6),
    Problem.from_differences((1, 3, 5)),
]


@pytest.fixture
def inclusion(monkeypatch: pytest.MonkeyPatch) -> Inclusion:
    """The method, registered as the page says, in this process."""
    method = Inclusion()
    monkeypatch.setitem(METHODS, method.name, method)
    return method


@pytest.mark.parametrize("problem", METHOD_PROBLEMS, ids=lambda problem: problem.name)
def test_a_method_of_ones_own_counts(inclusion: Inclusion, problem: Problem) -> None:
    assert langford.count(problem, method="inclusion") == true_count(problem)


@pytest.mark.parametrize("problem", [Problem.langford(4), Problem.langford(5)], ids=lambda problem: problem.name)
def test_a_method_of_ones_own_completes_a_campaign(inclusion: Inclusion, tmp_path: Path, problem: Problem) -> None:
    key = PlanKey(problem, "inclusion", 6)
    with Ledger(str(tmp_path / "ledger.db"), create=True) as ledger:
        campaign = ledger.create_campaign(key.name, key, plan_of(key).work.tolist())
        report = Run(TaskSource(campaign.worker, Identity.fresh()), [CPU], pool_of=InProcessPool).run()
        assert (report.tasks_here, report.stopped, report.set_aside) == (2**6, None, 0)
        assert ledger.campaign(f"langford-{problem.n}-inclusion-6").key == key
        assert campaign.reader.merged().published == true_count(problem)


def test_a_method_without_a_kernel_for_gpus_says_so(inclusion: Inclusion) -> None:
    with pytest.raises(MethodDoesNotApply, match="inclusion has no kernel for cuda, only for cpu: choose another"):
        langford.count(4, method="inclusion", device="cuda:0")


def test_a_method_that_only_this_process_knows_is_refused_where_others_count(
    inclusion: Inclusion, tmp_path: Path
) -> None:
    with langford.Ledger(tmp_path / "ledger.db", create=True) as ledger:
        campaign = ledger.campaign(4, method="inclusion", depth=3)
        with pytest.raises(MethodDoesNotApply, match=r"in this process only.* declare it as an entry point"):
            campaign.run()
        campaign.run(pool_of=InProcessPool)  # which the message names
        assert campaign.count().published == true_count(Problem.langford(4))


def test_a_method_says_what_it_cannot_count(inclusion: Inclusion) -> None:
    with pytest.raises(MethodDoesNotApply, match=f"sets of up to {MAX_PLACES} places, not 26"):
        langford.count(13, method="inclusion")


# -- a variant --------------------------------------------------------------------------------


@pytest.fixture
def sparse(monkeypatch: pytest.MonkeyPatch) -> Variant:
    """A variant, registered as the page says, in this process."""
    variant = Variant("sparse", "Sparse", lambda n: range(3, n + 3), pairs_only=False)
    monkeypatch.setitem(VARIANTS, variant.name, variant)
    return variant


@pytest.mark.parametrize("n", [4, 5, 8])
def test_a_variant_of_ones_own_is_counted_by_every_method(sparse: Variant, n: int) -> None:
    problem = Problem.named("sparse", n)
    assert problem.differences == tuple(range(3, n + 3))
    expected = true_count(problem)
    assert bool(expected) == (n > 4)
    applying = [name for name, method in METHODS.items() if method.refusal(problem) is None]
    assert applying == ["polyphase", "shifted2", "shifted", "godfrey", "miller", "regular"]
    assert {name: langford.count(problem, method=name) for name in applying} == dict.fromkeys(applying, expected)
    assert len(list(langford.arrangements(problem))) == expected


# -- a kernel ---------------------------------------------------------------------------------


def test_a_kernel_of_ones_own_equals_the_other_task_by_task(monkeypatch: pytest.MonkeyPatch) -> None:
    godfrey = METHODS["godfrey"]
    monkeypatch.setitem(godfrey.evaluators, "cpu", "tests.extensions.exact_godfrey:ExactGodfrey")
    for problem, depth in (
        (Problem.skolem(5), 4),
        (Problem.named("hooked-skolem", 3), 2),
        (Problem.langford(4), 0),
    ):
        plan = godfrey.plan(problem, depth)
        assert isinstance(plan.evaluator(), ExactGodfrey)
        numba = GodfreyOnCpu.on(plan, CPU)
        assert [plan.evaluate(task) for task in plan.tasks] == [numba.evaluate(task) for task in plan.tasks]
        count, _ = count_tasks(plan, [CPU])
        assert count.published == true_count(problem)


# -- a queue system ---------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    """``langford``, which begins when the queue has two jobs: as if its start took as long as it may."""
    wait = 'until [ -e "$0" ]; do sleep 0.1; done; exec "$@"'
    return ["sh", "-c", wait, str(tmp_path / "2.sh"), str(preloaded().program_for(tmp_path / "programs", ALONE))]


@pytest.mark.exhaustive
def test_a_queue_system_of_ones_own_completes_a_campaign(
    langford: CommandLine, program: list[str], tmp_path: Path
) -> None:
    key = PlanKey(Problem.langford(12), "polyphase", 8)
    assert langford("create", "langford", "12", "--depth", "8").returncode == 0
    ledger = Ledger(str(tmp_path / "langford.db"))
    campaign = ledger.campaign(key.name)
    options = ["--depth", "8", "--workers", "1", "--ledger", str(tmp_path / "langford.db")]
    command = [*program, "run", "langford", "12", *options]
    queue, console = LocalQueue(tmp_path, slots=2), KeptConsole()
    keeper = QueueKeeper(
        queue,
        campaign.worker,
        lambda name, elements: local_script(elements, command),
        most=5,
        seconds=0.5,
        console=console,
    )
    try:
        assert keeper.run() is None
    finally:
        queue.end()
    logs = "".join(file.read_text() for file in tmp_path.glob("*.log"))
    assert queue.most_at_once == 2
    assert "0 elements present, 3 more submitted as job 1" in console.said[0], (console.said, logs)
    assert "3 elements present, 2 more submitted as job 2" in console.said[1], (console.said, logs)
    assert not [element for element in queue.elements(key.name) if element.state == "waiting"]
    outcome = json.loads(langford("result", key.name, "--json").stdout)
    assert (outcome["count"], outcome["tasks"]) == ("108144", len(plan_of(key).work))


# -- the page ---------------------------------------------------------------------------------


def test_the_page_shows_the_code_that_is_tested_here() -> None:
    blocks = re.findall(r"```python\n# (\S+)\n(.*?)```", PAGE, re.DOTALL)
    assert {path for path, _ in blocks} >= {
        "tests/extensions/inclusion/__init__.py",
        "tests/extensions/inclusion/plan.py",
        "tests/extensions/inclusion/cpu.py",
        "tests/extensions/exact_godfrey.py",
        "tests/extensions/local_queue.py",
        "tests/library/test_extending.py",
    }
    assert len(blocks) == PAGE.count("```python")
    for path, block in blocks:
        assert block.strip() in (ROOT / path).read_text(), f"docs/extending.md shows another {path}"
