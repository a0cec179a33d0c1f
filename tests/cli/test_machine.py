"""``langford doctor``, and a campaign that is found again whatever depth would be chosen."""

from __future__ import annotations

import json
import subprocess
from types import SimpleNamespace

import pytest

from jobs import doctor
from langford.devices import CPU
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
