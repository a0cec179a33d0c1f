"""``langford doctor``, and task depths chosen by measured speed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from jobs import doctor
from langford.devices import CPU, Cpu
from langford.methods import METHODS, Plan, task_depth
from langford.problem import Problem
from langford.result import PartialResult
from langford.version import install
from tests.support.command_line import Run


def test_doctor_tries_the_processor_and_says_what_is_missing(langford: Run) -> None:
    done = langford("doctor", "--json")
    findings = {each["part"]: each for each in json.loads(done.stdout)}
    assert findings["processor"]["state"] == "works"
    assert "polyphase counts L(2,12) correctly" in findings["processor"]["detail"]
    assert "godfrey counts L(2,12) correctly" in findings["processor"]["detail"]
    assert findings["python"]["state"] == findings["sqlite"]["state"] == "works"
    if findings.get("gpu", {}).get("state") == "absent":
        assert install("cuda12") in findings["gpu"]["detail"] or "nvidia-smi" in findings["gpu"]["detail"]
    broken = any(each["state"] == "broken" for each in findings.values())
    assert done.returncode == (1 if broken else 0)


def test_doctor_reports_a_wrong_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "published", lambda problem: 7)
    finding = doctor.examine_device("processor", CPU)
    assert finding.state == "broken"
    assert "108,144, which is wrong" in finding.detail


def test_doctor_reports_a_command_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(command: list[str], **options: object) -> None:
        raise subprocess.TimeoutExpired(command, doctor.COMMAND_SECONDS)

    monkeypatch.setattr(doctor, "shutil", SimpleNamespace(which=lambda program: f"/bin/{program}"))
    monkeypatch.setattr(doctor.subprocess, "run", hang)
    slurm = doctor.examine_slurm()
    assert (slurm.state, "/bin/sbatch does not answer" in slurm.detail) == ("broken", True)


@pytest.mark.parametrize("name", ["polyphase", "shifted"])
@pytest.mark.parametrize("points_per_second", [1e6, 1e15])
@pytest.mark.parametrize("preparation", [0.0, 0.01])
def test_the_depth_follows_the_speed(
    monkeypatch: pytest.MonkeyPatch, name: str, points_per_second: float, preparation: float
) -> None:
    problem, method = Problem.langford(20), METHODS[name]
    now = [0.0]

    class Clockwork:
        """Evaluates every task at the same speed, on a clock of its own."""

        def __init__(self, plan: Plan) -> None:
            self._work = plan.work

        def evaluate(self, index: int) -> PartialResult:
            now[0] += self._work[index] / points_per_second + preparation
            return PartialResult(index, 0, 0, 0)

    monkeypatch.setattr("langford.methods.speed._measured", {})
    monkeypatch.setattr(Plan, "evaluator", lambda plan, device: Clockwork(plan))
    monkeypatch.setattr(Cpu, "clock", staticmethod(lambda: now[0]))
    depth = task_depth(problem, method, CPU, 20.0)

    def longest(depth: int) -> float:
        return float(np.max(method.plan(problem, depth).work)) / points_per_second

    depths = method.best_depths(problem)
    assert depth in depths
    assert longest(depth) <= 20.0 or depth == depths[-1]
    # What a task prepares passes for a tenth of its time at most.
    assert depth == 0 or longest(depth - depths.step) * (1.1 if preparation else 1.0) > 20.0


def test_a_campaign_is_found_again_without_its_depth(langford: Run, tmp_path: Path) -> None:
    assert langford("run", "langford", "11", "--depth", "6").returncode == 0
    again = langford("run", "langford", "11", "--task-time", "1000")
    assert again.returncode == 0
    campaigns = json.loads(langford("status", "--json").stdout)
    assert [each["campaign"] for each in campaigns] == ["langford-11-polyphase-6"]
