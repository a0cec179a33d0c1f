"""Fault injection: which check finds which fault, as the table in docs/verification.md says."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from db import Export, read_export
from db.errors import BadExport, CampaignMismatch
from jobs.verify import exchange, recomputation
from jobs.verify.agreement import agreement
from jobs.verify.recomputation import compare
from langford.arithmetic.residue import residue
from langford.devices import CPU
from langford.errors import CheckFailed, Incomplete
from langford.methods import PlanKey, merge, method_hash, plan_of
from langford.problem import Problem
from langford.result import Evaluation, PartialResult

PAGE = Path(__file__).parents[2] / "docs" / "verification.md"
KEY = PlanKey(Problem.langford(8), "polyphase", 8)
PLAN = plan_of(KEY)
MODULUS = 2**64 - 1
WRONG_2015 = 111683606778027803456
"""A count of L(2,27) that was announced in 2015, and is wrong."""
SUMS_27 = PlanKey(Problem.langford(27), "polyphase", 16)

Results = list[PartialResult]
CHECKS = (
    "checksum",
    "residue",
    "zero bits",
    "bounds",
    "complete",
    "divisible",
    "kernels",
    "published",
    "recomputing",
)


def source(kernels: str) -> str:
    """A provenance."""
    return json.dumps({"host": "here", "device": "cpu", "kernels": kernels})


@cache
def true() -> Results:
    """Evaluated when a test needs it, not where tests are collected."""
    return [PLAN.evaluate(index) for index in PLAN.tasks]


def export_of(results: Results, key: PlanKey = KEY, kernels: str | None = None) -> Export:
    """An export of these results."""
    provenance = source(kernels or method_hash(key.method))
    return Export("eight", key, len(PLAN.tasks), tuple(Evaluation(each, 0.25, provenance) for each in results))


def changed(index: int, **fields: int) -> Results:
    """The true results, with one changed."""
    return [replace(each, **fields) if each.index == index else each for each in true()]


def raised(index: int, by: int) -> Results:
    """The true results with one sum raised, and its residue made to fit."""
    value = true()[index].value + by
    return changed(index, value=value, residue=residue(value))


def body_changed(export: Export, change: Callable[[bytes], bytes], renew: bool) -> bytes:
    """The file of an export with a changed text, its checksum renewed or not."""
    body, _, seal = gzip.decompress(export.to_bytes()).rstrip(b"\n").rpartition(b"\n")
    body = change(body + b"\n")
    if renew:
        seal = json.dumps({"sha256": hashlib.sha256(body).hexdigest()}).encode()
    return gzip.compress(body + seal + b"\n")


@dataclass(frozen=True)
class Fault:
    """A fault, as the file that has it.

    Attributes:
        words: as the page names it.
        content: of the file.
    """

    words: str
    content: bytes


@cache
def faults() -> dict[str, Fault]:
    """Every kind of fault, each in a file of the whole campaign."""
    whole = export_of(true()).to_bytes()
    middle = len(whole) // 2
    odd = true()[1].value + 1
    step = 2 * PLAN.multiplier
    swapped = [replace(true()[1], index=0), replace(true()[0], index=1), *true()[2:]]
    other = Problem.skolem(8)
    foreign = plan_of(PlanKey(other, "polyphase", 8)).evaluate(1)
    wide = MODULUS << 40
    made = [
        Fault("a flipped bit in the file", whole[:middle] + bytes([whole[middle] ^ 16]) + whole[middle + 1 :]),
        Fault("a truncated file", whole[:-20]),
        Fault("a digit changed in the file, digest unchanged", body_changed(
            export_of(true()), lambda text: text.replace(str(true()[1].value).encode(), str(odd).encode()), False
        )),
        Fault("a flipped bit in a sum, before the export is written", export_of(
            changed(1, value=true()[1].value ^ 1 << 37)
        ).to_bytes()),
        Fault("a sum raised by one; residue and digest match", export_of(raised(1, 1)).to_bytes()),
        Fault("a sum raised beyond its bound by a multiple of (2^64-1)·2^40; digest matches", export_of(
            changed(1, value=true()[1].value + wide)
        ).to_bytes()),
        Fault("a wrong number of terms", export_of(
            changed(1, evaluated=true()[1].evaluated - 1)
        ).to_bytes()),
        Fault("a missing task", export_of(true()[1:]).to_bytes()),
        Fault("a duplicate task", export_of(
            [*true()[:-1], replace(true()[1], evaluated=true()[1].evaluated + 1)]
        ).to_bytes()),
        Fault("two tasks swapped; digest matches", export_of(swapped).to_bytes()),
        Fault("a task of another problem in place of this one", export_of(
            [replace(foreign, index=1) if each.index == 1 else each for each in true()]
        ).to_bytes()),
        Fault("the file labelled as another problem", body_changed(
            export_of(true()), lambda text: text.replace(b"langford-8", b"skolem-8"), True
        )),
        Fault("a sum raised by a multiple of the required divisor; residue matches", export_of(
            raised(1, step)
        ).to_bytes()),
        Fault("two sums changed, total unchanged", export_of(
            [*raised(1, step)[:2], *raised(2, -step)[2:]]
        ).to_bytes()),
        Fault("correct results from other kernels", export_of(true(), kernels="0" * 16).to_bytes()),
    ]  # fmt: skip
    return {fault.words: fault for fault in made}


def findings(content: bytes, folder: Path) -> set[str]:
    """The checks that find something wrong with a file."""
    file = folder / "file.jsonl.gz"
    file.write_bytes(content)
    try:
        export = read_export(file)
        plan = exchange.plan_for(export)
    except BadExport as error:
        return {"complete" if "two results of task" in str(error) else "checksum"}
    except CampaignMismatch:
        return {"complete"}
    results = [evaluation.result for evaluation in export.results]
    found = set[str]()
    for each in results:
        expectation = plan.expectation(each.index)
        with_residue = replace(each, residue=residue(each.value))
        bits = replace(expectation, lowest=min(0, each.value), highest=max(0, each.value))
        bounds = replace(expectation, zero_bits=0)
        for name, one, checked in (
            ("residue", each, replace(bits, zero_bits=0)),
            ("zero bits", with_residue, bits),
            ("bounds", with_residue, bounds),
        ):
            try:
                checked.check(one)
            except CheckFailed:
                found.add(name)
    if {each.index for each in results} != set(plan.tasks) or len(results) != len(plan.tasks):
        found.add("complete")
    if recomputation.stale(export.results, export.key.method):
        found.add("kernels")
    try:
        count = merge(plan, results)
    except (Incomplete, CheckFailed) as error:
        if "add up" in str(error) or "pair up" in str(error):
            found.add("divisible")
    else:
        if agreement(plan.problem, count.published).agrees is False:
            found.add("published")
    way = recomputation.recomputation(plan, None, CPU)
    if any(each.verdict == "differs" for each in compare(export, way, plan.tasks, lambda *_: None)):
        found.add("recomputing")
    return found


def page_table() -> dict[str, set[str]]:
    """The table of the page: the checks that find each fault."""
    below = PAGE.read_text().split("## Which check finds which fault\n", 1)[1].partition("\n## ")[0]
    head, _, *rows = re.findall(r"^\|(.*)\|$", below, re.MULTILINE)
    names = [cell.strip() for cell in head.split("|")][1:]
    assert tuple(names) == CHECKS
    table = {}
    for row in rows:
        words, *marks = (cell.strip() for cell in row.split("|"))
        assert set(marks) <= {"finds", ""}, row
        table[words] = {name for name, mark in zip(names, marks, strict=True) if mark}
    return table


def test_the_page_names_the_same_faults() -> None:
    assert list(page_table()) == list(faults())


@pytest.mark.parametrize("words", page_table())
def test_the_page_says_which_check_finds_the_fault(words: str, tmp_path: Path) -> None:
    assert findings(faults()[words].content, tmp_path) == page_table()[words]


def test_true_results_pass_every_check(tmp_path: Path) -> None:
    assert findings(export_of(true()).to_bytes(), tmp_path) == set()


def test_some_faults_are_found_by_recomputing_alone() -> None:
    only = [words for words, found in page_table().items() if found == {"recomputing"}]
    assert only == [
        "a wrong number of terms",
        "two tasks swapped; digest matches",
        "two sums changed, total unchanged",
    ]


def test_a_wrong_total_of_2015_passes_the_checks_of_totals() -> None:
    """Only the published value, or recomputing, tells it from the right one."""
    plan = plan_of(SUMS_27)
    arrangements = 2 * WRONG_2015
    kept = Path(__file__).parents[2] / "jobs" / "campaigns" / "langford-27-polyphase-16.jsonl.gz"
    results = [evaluation.result for evaluation in read_export(kept).results]
    right = merge(plan, results)
    # All of the difference in one sum: a multiple of what divides the total, far within the bound.
    value = results[7].value + plan.multiplier * (arrangements - right.arrangements)
    results[7] = replace(results[7], value=value, residue=residue(value))
    wrong = merge(plan, results)
    assert wrong.published == WRONG_2015
    assert wrong.checks == right.checks
    assert agreement(plan.problem, wrong.published).agrees is False
    assert str(WRONG_2015) in PAGE.read_text()
