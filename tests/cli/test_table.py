"""``langford table``: right numbers in each format, two sums, bad input in one line, and any kill survived."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from db import Campaign, Export, Lease, Ledger, WorkerCampaign
from db.campaign.reader import ReaderCampaign
from db.errors import ConnectionLost, LedgerError
from db.identity import Identity
from jobs.console import Console, Step
from jobs.pools import evaluation
from jobs.reach.outbox import Outbox
from jobs.tables.counting import Interrupted, TableCounting
from jobs.tables.entries import Family, entries
from jobs.tables.forecast import TableForecast
from jobs.tables.method_choice import MethodChoice, left_of
from langford.arithmetic.residue import residue
from langford.devices import CPU, Cuda, Device
from langford.errors import BadInput, Incomplete
from langford.methods import METHODS, Plan, PlanKey, plan_of
from langford.problem import Problem
from langford.problem.reference import SEQUENCES
from langford.problem.sequences import OEIS
from langford.result import Evaluation
from tests.library.test_reference import transcribed
from tests.support.brute_force import arrangements
from tests.support.campaigns import delivery
from tests.support.clock import MovableClock
from tests.support.command_line import ENVIRONMENT, Run
from tests.support.consoles import KeptConsole
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol
from tests.support.preloaded import Preparation, adapt, preloaded


def rows(output: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(output)))


def without_seconds(output: str) -> list[dict[str, str]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows(output)]


def made(langford: Run, *arguments: str) -> str:
    outcome = langford("table", *arguments)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


# -- numbers ----------------------------------------------------------------------------------


def test_published_counts_are_compared_and_zeros_cost_nothing(langford: Run, tmp_path: Path) -> None:
    shown = rows(made(langford, "hooked-skolem", "7", "--format", "csv"))
    published = SEQUENCES["A004076"].terms
    assert [int(row["n"]) for row in shown] == list(range(1, 8))
    for row in shown:
        assert int(row["count"]) == published.get(int(row["n"]), 0)
        assert row["known"] == ("A004076" if int(row["n"]) in published else "none can exist")
    with Ledger(str(tmp_path / "langford.db")) as ledger:
        counted = {campaign.problem.order for campaign in ledger.campaigns()}
    assert counted == {n for n in published if n <= 7}


def test_every_value_of_a_parameter_has_a_row(langford: Run) -> None:
    shown = rows(made(langford, "near-skolem", "6", "--format", "csv"))
    assert [(int(row["n"]), int(row["missing"])) for row in shown] == [
        (n, missing) for n in range(2, 7) for missing in range(1, n + 1)
    ]
    for row in shown:
        problem = Problem.named("near-skolem", int(row["n"]), missing=int(row["missing"]))
        assert int(row["arrangements"]) == arrangements(problem)
        assert int(row["count"]) == problem.published(arrangements(problem))
        n, missing = int(row["n"]), int(row["missing"])
        same = f"A014552({n - 1})" if missing == 1 else f"A059106({n - 1})" if missing == n else "none known"
        assert row["known"] == ("none can exist" if problem.obstruction else same)


def test_a_sum_over_all_holes_counts_rows_that_mirror_each_other_once(langford: Run, tmp_path: Path) -> None:
    shown = json.loads(made(langford, "extended-skolem", "5", "--sum", "--json"))
    for row in shown:
        n = row["n"]
        holes = [arrangements(Problem.named("extended-skolem", n, hole=hole)) for hole in range(1, 2 * n + 2)]
        assert int(row["count"]) == int(row["arrangements"]) == sum(holes)
    with Ledger(str(tmp_path / "langford.db")) as ledger:
        shapes = [campaign.problem.pattern for campaign in ledger.campaigns()]
    assert len(shapes) == len(set(shapes))


def test_two_holes_are_in_ascending_order() -> None:
    pairs = [entry.values for entry in entries(Family("extended-rosa", {}, 2, 2, {}))]
    assert pairs == [(p, q) for p in range(1, 6) for q in range(p + 1, 7)]


# -- formats ----------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_a_b_file_says_how_it_was_made_and_makes_itself_again(langford: Run, tmp_path: Path) -> None:
    assert langford("table", "rosa", "8", "--confirm", "-o", "b.txt").returncode == 0
    lines = (tmp_path / "b.txt").read_text().splitlines()
    header = [line for line in lines if line.startswith("# ")]
    assert lines[: len(header)] == header
    terms = [tuple(map(int, line.split(" "))) for line in lines[len(header) :]]
    assert terms == [
        (n, Problem.named("rosa", n).published(arrangements(Problem.named("rosa", n)))) for n in range(1, 9)
    ]
    words = "\n".join(header)
    for said in (
        "mirror images counted once",
        "Kernels ",
        "All of these were counted again",
        "4 of 8 numbers are 0",
    ):
        assert said in words
    again = header[-1].removeprefix("# Reproduce with: langford ").split()
    assert langford(*again, "--ledger", "other.db").stdout == (tmp_path / "b.txt").read_text()


LAST = {
    "A014552": 8, "A176127": 8, "A059106": 8, "A004075": 8, "A004076": 7, "A004077": 5, "A059107": 9, "A059108": 9,
    "A285527": 9, "A284757": 9, "A002047": 4, "A006204": 6, "A390360": 2, "A392247": 2,
}  # fmt: skip
"""Up to which index the sequences are counted here."""
FROM_ZERO = {"A059108", "A285527", "A002047", "A390360"}
"""Those of offset 0 in the OEIS; the others have offset 1."""


@pytest.mark.parametrize("name", OEIS)
def test_a_b_file_of_a_sequence_is_that_of_the_oeis(langford: Run, name: str) -> None:
    last, first = LAST[name], 0 if name in FROM_ZERO else 1
    lines = made(langford, name, str(last), "--format", "bfile").splitlines()
    terms = {0: 1} | transcribed(name)
    wanted = [f"{index} {terms.get(index, 0)}" for index in range(first, last + 1)]
    assert [line for line in lines if not line.startswith("#")] == wanted
    assert f"# Equal to {name} at n = " in "\n".join(lines)
    assert lines[-len(wanted) - 1].startswith(f"# Reproduce with: langford table {name} {last} --from ")


def test_the_table_for_people_has_every_row(langford: Run) -> None:
    shown = made(langford, "langford", "8")
    assert "150" in shown
    assert "A014552" in shown
    assert shown.count("none can exist") == 4


# -- two sums ---------------------------------------------------------------------------------


def test_each_entry_is_counted_again_by_another_sum(langford: Run, tmp_path: Path) -> None:
    shown = rows(made(langford, "extended-skolem", "7", "hole", "2", "--confirm", "--format", "csv"))
    found = [row for row in shown if row["method"]]
    assert found
    assert all(row["confirmed by"] for row in found)
    with Ledger(str(tmp_path / "langford.db")) as ledger:
        sums = {(campaign.problem.name, campaign.key.method, campaign.key.seed) for campaign in ledger.campaigns()}
    assert len(sums) == 2 * len(found)


def write_wrong(folder: Path, key: PlanKey, factor: int) -> None:
    """A campaign whose results pass their own checks, with one that is wrong."""
    plan = plan_of(key)
    results = [plan.evaluate(task) for task in plan.tasks]
    value = results[0].value + factor * plan.multiplier
    results[0] = replace(results[0], value=value, residue=residue(value))
    evaluations = tuple(Evaluation(result, 0.1, "{}") for result in results)
    file = folder / "langford.db"
    with Ledger(str(file)) if file.exists() else new_ledger("sqlite", folder, file.name) as ledger:
        ledger.take(Export(key.name, key, len(plan.tasks), evaluations), plan, "i", "here", "1")


@pytest.mark.parametrize(("again", "words"), [("miller", "miller"), ("shifted --seed 3", "shifted with seed 3")])
def test_a_finished_campaign_confirms_whatever_would_be_chosen_now(
    langford: Run, tmp_path: Path, again: str, words: str
) -> None:
    for options in ("shifted", again):
        assert langford("run", "rosa", "8", "--method", *options.split()).returncode == 0
    command = ("rosa", "--from", "8", "8", "--confirm", "--format", "csv")
    shown = made(langford, *command)
    [row] = rows(shown)
    assert (row["count"], row["method"], row["confirmed by"]) == ("130", "shifted", words)
    assert made(langford, *command) == shown
    with Ledger(str(tmp_path / "langford.db")) as ledger:
        assert len(ledger.campaigns()) == 2


def test_a_wrong_count_is_found_by_the_published_one(langford: Run, tmp_path: Path) -> None:
    write_wrong(tmp_path, PlanKey(Problem.named("hooked-skolem", 7), "polyphase", 0), 1)
    outcome = langford("table", "hooked-skolem", "7")
    assert (outcome.returncode, outcome.stdout) == (4, "")
    assert "hooked Skolem(2,7) = 125 is wrong" in outcome.stderr


def test_a_wrong_count_is_found_by_another_sum(langford: Run, tmp_path: Path) -> None:
    write_wrong(tmp_path, PlanKey(Problem.named("rosa", 8), "shifted", 0), 2)
    outcome = langford("table", "rosa", "8", "--confirm")
    assert (outcome.returncode, outcome.stdout) == (4, "")
    assert re.search(r"rosa-8-shifted-0 counts 131 and rosa-8-godfrey-\d+ 130; find .*rosa-8-g", outcome.stderr)


@pytest.mark.parametrize("wrong", [0, 2])
def test_a_count_that_only_a_file_states_is_not_new(langford: Run, tmp_path: Path, wrong: int) -> None:
    write_wrong(tmp_path, PlanKey(Problem.named("rosa", 8), "shifted", 0), wrong)
    command = ("rosa", "--from", "7", "8")
    imported = "imported without a promise"
    assert [row["known"] for row in rows(made(langford, *command, "--format", "csv"))] == ["none known", imported]
    assert [row["known"] for row in json.loads(made(langford, *command, "--json"))] == ["none known", imported]
    header = made(langford, *command, "--format", "bfile")
    assert "# Imported at n = 8: no promise recorded, not counted again here\n" in header
    assert "# No value known here\n" in header
    outcome = langford("table", *command, "--confirm", "--format", "csv")
    assert outcome.returncode == (4 if wrong else 0)
    assert wrong or [row["known"] for row in rows(outcome.stdout)] == ["none known", "none known"]


def test_the_second_of_two_counts_is_blamed_when_it_is_the_wrong_one(langford: Run, tmp_path: Path) -> None:
    assert langford("run", "hooked-skolem", "7", "--method", "polyphase").returncode == 0
    write_wrong(tmp_path, PlanKey(Problem.named("hooked-skolem", 7), "shifted", 0), 1)
    outcome = langford("table", "hooked-skolem", "7", "--confirm")
    assert (outcome.returncode, outcome.stdout) == (4, "")
    assert "= 125 is wrong" in outcome.stderr
    assert "verify hooked-skolem-7-shifted-0 " in outcome.stderr
    assert "polyphase" not in outcome.stderr.replace("kernels of polyphase", "")


# -- the second count -------------------------------------------------------------------------


def test_a_search_confirms_no_sum_that_takes_long() -> None:
    large = Problem.langford(20)  # a search takes days where a sum takes a minute
    choice = MethodChoice([large], [CPU])
    assert choice.confirming_plan(large, choice.plan(large)).method == "shifted2"


def test_small_problems_are_counted_on_a_core_and_others_on_the_device_of_the_table() -> None:
    instant = int(METHODS["polyphase"].speeds.forecast(2).instant)
    problems = [Problem.langford(n) for n in (instant, instant + 1, 23)]
    choice = MethodChoice(problems, [Cuda()])
    assert [choice.devices(each) for each in problems] == [[CPU], [Cuda()], [Cuda()]]
    assert [choice.method(each).name for each in problems] == ["polyphase", "polyphase", "shifted2"]
    assert MethodChoice(problems, [CPU]).method(problems[-1]).name == "polyphase"


def test_a_small_problem_is_confirmed_on_a_core_if_a_method_can(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, regular = Problem.langford(9, 3), METHODS["regular"]
    first, again = PlanKey(problem, "miller", 1), PlanKey(problem, "regular", 2)
    begun = Mock(key=again, problem=problem)
    begun.reader.standing.return_value = Mock(missing=1, is_stopped=False)
    choice = MethodChoice([problem], [Cuda()], Mock(campaigns=lambda: [begun]))
    monkeypatch.setattr(type(regular), "evaluators", {"cpu": regular.evaluators["cpu"]})
    assert choice.second(problem, first) is begun
    monkeypatch.setattr(type(regular), "evaluators", {})
    with pytest.raises(BadInput, match=r"no other method .* leave --confirm out"):
        choice.confirming_plan(problem, first)


def test_the_second_sum_has_the_name_of_the_first() -> None:
    rosa, same = Problem.named("rosa", 8), Problem.from_differences(range(1, 9), 17, [9])
    second = MethodChoice([rosa], [CPU]).confirming_plan(rosa, PlanKey(same, "shifted", 0))
    assert second.problem == same != rosa


def test_a_campaign_without_all_results_has_something_left() -> None:
    standing = Mock(share_done=1.0, missing=1)  # the work of the last task is too small for the sum
    assert left_of(Mock(**{"reader.standing.return_value": standing})) > 0


def test_a_count_that_the_ledger_has_costs_nothing(langford: Run, tmp_path: Path) -> None:
    assert "8 entries from 4 counts, about" in langford("table", "rosa", "8").stderr
    assert langford("table", "rosa", "8").stderr.startswith(
        "8 entries from 4 counts; 4 are already in the ledger\n"
    )
    # Each has one of the two counts, which is none of those that are to be made.
    assert "8 entries from 4 counts, about" in langford("table", "rosa", "8", "--confirm").stderr
    planned = json.loads(made(langford, "rosa", "8", "--confirm", "--dry-run", "--json"))
    assert planned["seconds"] == 0.0
    with Ledger(str(tmp_path / "langford.db")) as ledger:
        assert {campaign.tasks for campaign in ledger.campaigns()} == {1}, "a small problem is one task"


# -- kills ------------------------------------------------------------------------------------


def rest_at_tasks() -> None:
    """Have this process evaluate tasks itself, and rest at each: there is time to do something to it."""
    adapt({}, in_process=True)
    evaluate = evaluation.evaluate

    def rested(plan: Plan, index: int, device: Device) -> Evaluation:
        time.sleep(0.2)
        return evaluate(plan, index, device)

    evaluation.evaluate = rested


TABLE = ["table", "near-skolem", "5", "--confirm", "--format", "csv"]


def results(folder: Path) -> int:
    try:
        with Ledger(str(folder / "langford.db")) as ledger:
            return sum(campaign.reader.standing().tasks.get("done", 0) for campaign in ledger.campaigns())
    except LedgerError:
        return 0


def killed_after(folder: Path, more: int) -> int:
    """Start a table, and kill it after some more results; how many there are."""
    before = results(folder)
    prepare: Preparation = (f"{__name__}:{rest_at_tasks.__name__}", {})
    with preloaded().start(
        TABLE, folder, ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, prepare=prepare
    ) as process:
        deadline = time.monotonic() + 100
        while results(folder) < before + more:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.kill()
        output, _ = process.communicate(timeout=100)
    assert (output, process.wait()) == ("", -signal.SIGKILL)
    return results(folder)


@pytest.mark.exhaustive
def test_a_table_survives_kills_between_and_within_its_campaigns(langford: Run, tmp_path: Path) -> None:
    kept = 0
    for more in (2, 3):
        done = killed_after(tmp_path, more)
        assert done >= kept + more
        kept = done
    finished = made(langford, *TABLE[1:])
    assert without_seconds(finished) == without_seconds(made(langford, *TABLE[1:], "--ledger", "other.db"))
    # What was kept is not computed again: each task has one attempt that is done.
    with Ledger(str(tmp_path / "langford.db")) as ledger:
        for campaign in ledger.campaigns():
            reader = campaign.reader
            assert reader.overview().attempts["done"] == reader.standing().tasks["done"] == campaign.tasks
    assert made(langford, *TABLE[1:]) == finished


def test_a_time_limit_stops_a_table(langford: Run) -> None:
    outcome = langford("table", "rosa", "12", "--time-limit", "0")
    assert (outcome.returncode, outcome.stdout) == (3, "")
    assert "stopped (time limit) after 0 of 6 counts" in outcome.stderr


def begun(ledger: Ledger, problem: Problem, method: str, depth: int, part: float, seed: int = 0) -> Campaign:
    """A campaign of which another worker has done a part."""
    key = PlanKey(problem, method, depth, seed)
    campaign = ledger.create_campaign(key.name, key, plan_of(key).work.tolist())
    enrol(ledger, "a", "elsewhere", "1")
    tasks = round(part * campaign.tasks)
    leases = campaign.worker.lease("a", tasks, 600.0) if tasks else []
    campaign.worker.deliver([delivery(each, campaign.plan.evaluate(each.index)) for each in leases])
    return campaign


ROSA = Problem.named("rosa", 7)
SEVEN = entries(Family("rosa", {}, 7, 7, {}))


class Meanwhile(Console):
    """Another worker delivers what it holds once this one has taken up something else."""

    def __init__(self, ledger: Ledger, held: Campaign, leases: Sequence[Lease]) -> None:
        self._ledger, self._held, self._leases = ledger, held, leases

    def stop_reason(self) -> str | None:
        if self._leases and any(each.problem != self._held.problem for each in self._ledger.campaigns()):
            self._held.worker.deliver(
                [delivery(each, self._held.plan.evaluate(each.index)) for each in self._leases]
            )
            self._leases = []
        return None


@pytest.mark.parametrize("delivers", [True, False], ids=["delivers", "keeps"])
def test_what_another_worker_holds_is_looked_at_again_at_the_end(tmp_path: Path, delivers: bool) -> None:
    wanted = entries(Family("rosa", {}, 7, 8, {}))
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        held = begun(ledger, ROSA, "shifted2", 0, 0.0)
        leases = held.worker.lease("a", 1, 600.0)
        assert leases
        console = Meanwhile(ledger, held, leases) if delivers else Console()
        forecast = TableForecast(wanted, [CPU], False, ledger)
        assert [problem.order for problem in forecast.expected] == [7, 8]
        counting = TableCounting(forecast, ledger, console)
        if delivers:
            assert [row.arrangements for row in counting.rows()] == [44, 260]
        else:
            with pytest.raises(Incomplete, match="other workers hold the rest of rosa-7-"):
                counting.rows()
        [other] = [each for each in ledger.campaigns() if each.problem != ROSA]
        assert other.reader.standing().unfinished == 0


class Noted(Console):
    """Keeps what is shown."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def show(self, step: Step) -> None:
        self.steps.append(step)


@pytest.mark.parametrize(
    ("found", "left"),
    [
        ([], [1, 1]),
        ([("shifted2", 4, 0.25), ("shifted2", 6, 0.75), ("shifted2", 2, 0)], [0.25, 1]),
        ([("shifted2", 4, 1), ("godfrey", 10, 0.5)], [0, 0.5]),
        ([("godfrey", 10, 0.5), ("shifted2", 4, 0)], [1, 0.5]),
        ([("godfrey", 10, 1), ("shifted2", 4, 1)], [0, 0]),
        ([("shifted2", 4, 1), ("shifted2", 4, 0.75, 1), ("shifted", 4, 0.5)], [0, 1]),
    ],
)
def test_a_forecast_leaves_out_what_the_table_goes_on_with(
    tmp_path: Path, found: list[tuple[Any, ...]], left: list[float]
) -> None:
    """The first sum is by shifted2, the second by godfrey, which shares nothing with it."""
    console = Noted()
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        whole = TableForecast(SEVEN, [CPU], False, ledger).seconds
        for each in found:
            begun(ledger, ROSA, *each)
        for sums in (1, 2):
            wanted = sum(left[:sums])
            forecast = TableForecast(SEVEN, [CPU], sums == 2, ledger)
            assert forecast.seconds == pytest.approx(wanted * whole)
            assert forecast.found == (not wanted)
        [row] = TableCounting(forecast, ledger, console).rows()
        assert (row.arrangements, len(row.campaigns), len(row.confirmed_by)) == (44, 1, 1)
        shown = [step.work_done for step in console.steps]
        assert shown == sorted(shown)
        if wanted:
            assert (shown[0], shown[-1]) == (0, pytest.approx(forecast.seconds))
        if 0 < left[0] < 1:
            share = left[0] / wanted * forecast.seconds
            assert any(step == pytest.approx(share) for step in shown), "the first sum has its own share"
        assert TableForecast(SEVEN, [CPU], True, ledger).found == 1


def test_a_count_that_waits_for_others_stops_no_other_one(langford: Run) -> None:
    assert (
        langford("create", "rosa", "7", "--method", "shifted2", "--depth", "4", "--replicate", "1").returncode == 0
    )
    outcome = langford("table", "rosa", "--from", "7", "8")
    assert outcome.returncode == 3
    assert "rosa-7-shifted2-4 has 0 of" in outcome.stderr.splitlines()[-1]
    assert made(langford, "rosa", "--from", "8", "8", "--dry-run").startswith(
        "1 entry from 1 count; 1 is already in the ledger"
    )


def test_a_second_sum_is_completed_while_others_hold_the_first(tmp_path: Path) -> None:
    console = Noted()
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        held = begun(ledger, ROSA, "shifted2", 4, 0.5)
        leases = held.worker.lease("a", 1, 600.0)
        forecast = TableForecast(SEVEN, [CPU], True, ledger)
        with pytest.raises(Incomplete, match="other workers hold the rest of rosa-7-shifted2-4"):
            TableCounting(forecast, ledger, console).rows()
        left = {each.key.method: each.reader.standing().unfinished for each in ledger.campaigns()}
        assert left == {"shifted2": 1, "godfrey": 0}
        held.worker.deliver([delivery(each, held.plan.evaluate(each.index)) for each in leases])
        assert [row.arrangements for row in TableCounting(forecast, ledger, Console()).rows()] == [44]
        shown = [step.work_done for step in console.steps]
        assert shown == sorted(shown)


@pytest.mark.parametrize("how", ["stopped", "time limit", "back"])
def test_a_table_waits_for_its_ledger_and_loses_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    asked, clock = [], MovableClock()

    def away(campaign: Any, *arguments: Any) -> Any:
        asked.append(arguments)
        if how == "back" and len(asked) > 2:
            monkeypatch.undo()
            return getattr(campaign, question)(*arguments)
        raise ConnectionLost("no answer")

    def box(identity: Identity, console: Console) -> Outbox:
        return Outbox(tmp_path / "box", identity, console)

    question = "deliver" if how == "stopped" else "promise"
    console = KeptConsole(lambda: "SIGTERM" if asked and how == "stopped" else None)
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        campaign = begun(ledger, ROSA, "shifted2", 4, 0.0)
        limit = 100.0 if how == "time limit" else None
        counting = TableCounting(TableForecast(SEVEN, [CPU], False, ledger), ledger, console, limit, box, clock)
        monkeypatch.setattr(WorkerCampaign if how == "stopped" else ReaderCampaign, question, away)
        if how == "back":
            assert counting.rows()[0].arrangements == 44
        else:
            with pytest.raises(Interrupted, match="SIGTERM" if how == "stopped" else how):
                counting.rows()
            monkeypatch.undo()
        assert ("kept in" in console.said[-1]) == (how == "stopped") == bool(list(tmp_path.rglob("*.result.json")))
        forecast = TableForecast(SEVEN, [CPU], False, ledger)
        [row] = TableCounting(forecast, ledger, Console(), outbox_of=box).rows()
        assert row.arrangements == 44
        assert campaign.reader.overview().attempts["done"] == campaign.tasks
    assert not list(tmp_path.rglob("*.result.json"))


def test_a_campaign_that_was_cancelled_is_not_counted_behind_its_owners_back(langford: Run) -> None:
    assert langford("create", "hooked-skolem", "7", "--method", "polyphase", "--depth", "0").returncode == 0
    assert langford("cancel", "hooked-skolem-7-polyphase-0").returncode == 0
    outcome = langford("table", "hooked-skolem", "7")
    assert (outcome.returncode, outcome.stdout) == (3, "")
    assert "then `langford retry hooked-skolem-7-polyphase-0`" in outcome.stderr
    assert langford("retry", "hooked-skolem-7-polyphase-0").returncode == 0
    assert rows(made(langford, "hooked-skolem", "--from", "7", "7", "--format", "csv"))[0]["count"] == "124"


@pytest.mark.parametrize(
    ("method", "sums"), [("shifted2", []), ("godfrey", ["--confirm"])], ids=["first", "second"]
)
def test_of_two_campaigns_the_one_that_was_not_cancelled_goes_on(
    langford: Run, method: str, sums: list[str]
) -> None:
    for depth in ("2", "4"):
        assert langford("create", "rosa", "7", "--method", method, "--depth", depth).returncode == 0
    assert langford("cancel", f"rosa-7-{method}-2").returncode == 0
    [row] = rows(made(langford, "rosa", "--from", "7", "7", *sums, "--format", "csv"))
    assert row["arrangements"] == "44"


def test_a_name_that_another_campaign_has_gets_a_number(langford: Run) -> None:
    name = Problem.named("rosa", 7).name + "-shifted2-0"
    assert langford("run", "langford", "7", "--name", name).returncode == 0
    for _ in range(2):
        [row] = rows(made(langford, "rosa", "--from", "7", "7", "--format", "csv"))
        assert (row["count"], row["arrangements"]) == ("22", "44")
    campaigns = json.loads(langford("status", "--json").stdout)
    assert {each["campaign"] for each in campaigns} == {name, f"{name}-2"}
