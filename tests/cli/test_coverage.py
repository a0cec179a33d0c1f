"""What a random sample proves, how large it is, and programs that verification needs but does not find."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.verify import signatures
from jobs.verify.recomputation import Coverage, choose, sample_size, sources, stale
from langford.devices import HOST
from langford.errors import NotInstalled
from langford.kernels.gpu.host import NoCompiler
from langford.machine.outputs import OutputForm
from langford.methods import PlanKey, method_hash, plan_of
from langford.problem import Problem
from langford.result import Evaluation, PartialResult


@settings(max_examples=30)
@given(st.integers(1, 200), st.data())
def test_a_sample_finds_wrong_tasks_with_the_probability_of_combinatorics(done: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, done))
    wrong = data.draw(st.integers(1, done))
    coverage = Coverage(size, done, done, 0.5, 1)
    missed = comb(done - wrong, size) / comb(done, size)
    assert coverage.finds(wrong) == pytest.approx(1 - missed)
    assert coverage.finds(1) == pytest.approx(size / done)


def test_sizes_of_samples_and_reproducible_choices() -> None:
    sizes = {text: sample_size(text, 55) for text in ("5%", "100%", "0.1%", "3", "99")}
    assert sizes == {"5%": 3, "100%": 55, "0.1%": 1, "3": 3, "99": 55}
    done = range(0, 100, 3)
    assert choose(done, 5, 7) == choose(list(done)[::-1], 5, 7)
    assert choose(done, 5, 7) != choose(done, 5, 8)
    assert set(choose(done, len(done), 1)) == set(done)


def test_named_tasks_prove_nothing_about_the_others() -> None:
    assert "nothing about the others" in Coverage(3, 9, 9, 0.3, None).proof
    assert "every task was compared" in Coverage(9, 9, 9, 1.0, None).proof
    assert "probability 0.333" in Coverage(3, 9, 9, 0.3, 1).proof
    assert "probability 0.999" in Coverage(9_999, 10_000, 10_000, 0.9, 1).proof, "1 is certain"


def test_tasks_without_a_result_are_not_proved() -> None:
    """To have compared all that is done is not to have compared every task."""
    assert "every task" not in Coverage(9, 9, 12, 0.7, 1).proof
    assert "probability 1" in Coverage(9, 9, 12, 0.7, 1).proof
    assert "nothing about the others" in Coverage(9, 9, 12, 0.7, None).proof


def test_a_proof_speaks_of_no_more_wrong_tasks_than_there_are() -> None:
    assert "at least" not in Coverage(3, 10, 10, 0.3, 1).proof
    assert Coverage(3, 11, 11, 0.3, 1).proof.endswith(", at least one of 10 with 1")
    several = "at least one of 10 with 0.099, at least one of 100 with 0.99"
    assert Coverage(1, 101, 101, 0.01, 1).proof.endswith(f", {several}")


def test_results_of_other_kernels_are_counted() -> None:
    result = PartialResult(0, 0, 0, 0)
    here = f'{{"kernels": "{method_hash("godfrey")}", "device": "cpu"}}'
    told = [here, '{"kernels": "old"}', "no JSON", "[]", "[" * 4000]
    evaluations = [Evaluation(result, 0.0, text) for text in told]
    assert sum(sources(evaluations).values()) == 5
    assert stale(evaluations, "godfrey") == 4


def test_gpus_of_one_model_are_told_apart_or_counted_together() -> None:
    devices = ("cuda:0 NVIDIA H100", "cuda:3 NVIDIA H100", "cuda:0 NVIDIA H200", "cpu", "")
    evaluations = [
        Evaluation(PartialResult(index, 0, 0, 1), 1.0, json.dumps({"kernels": "1a", "device": device}))
        for index, device in enumerate(devices)
    ]
    where = ("an unknown device", "cpu")
    assert sources(evaluations) == {f"kernels 1a on {device}": 1 for device in (*where, *devices[:3])}
    assert sources(evaluations, by_model=True) == {
        **{f"kernels 1a on {device}": 1 for device in where},
        "kernels 1a on NVIDIA H100": 2,
        "kernels 1a on NVIDIA H200": 1,
    }


@pytest.mark.parametrize("by_model", [True, False])
def test_the_provenance_of_a_stranger_stays_on_its_line(by_model: bool) -> None:
    provenance = json.dumps({"kernels": "1a\x1b[31m", "device": "cuda:0 NVIDIA\n9 999 \ud800"})
    [said] = sources([Evaluation(PartialResult(0, 0, 0, 1), 1.0, provenance)], by_model)
    assert said.isprintable()
    assert said.endswith(r"NVIDIA\n9 999 \ud800")


def test_missing_programs_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    file = tmp_path / "file"
    file.write_text("text")
    with pytest.raises(NotInstalled, match="install OpenSSH"):
        signatures.write(file, b"another text", OutputForm("a text", b"text"), tmp_path / "key")
    assert file.read_text() == "text"
    with pytest.raises(NoCompiler, match="install it"):
        plan_of(PlanKey(Problem.langford(4), "godfrey", 2)).evaluator(HOST)
