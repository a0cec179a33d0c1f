"""Exports: nothing damaged is taken, nothing is taken twice, nothing is lost."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from db import Campaign, Export, Ledger, Promise, joined, read_export
from db.errors import BadExport, CampaignMismatch, ConflictingResults
from db.machines import Machine
from db.records import Computation
from db.states import EventKind
from jobs.verify import exchange
from langford.errors import CheckFailed, Incomplete
from langford.methods import merge
from langford.problem import Problem
from langford.problem.reference import published
from langford.result import Evaluation, PartialResult
from tests.support.campaigns import COUNT, KEY, NAME, PLAN, TASKS, TRUE, deliver, forged
from tests.support.tables import number_in_tables

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9)
CAMPAIGNS = Path(__file__).parents[2] / "jobs" / "campaigns"
LISTED = (CAMPAIGNS / "README.md").read_text()
TABLES = sorted((CAMPAIGNS / "tables").glob("*.gz"))
PARTS = 4
RECORDS = Path(__file__).parents[2] / "docs" / "records.md"


def export_of(results: list[PartialResult], seconds: float = 0.25) -> Export:
    return Export(
        NAME,
        KEY,
        TASKS,
        tuple(Evaluation(each, seconds, '{"host": "far"}') for each in results),
    )


def written(folder: Path, export: Export, name: str = "seven.jsonl.gz") -> Path:
    file = folder / name
    file.write_bytes(export.to_bytes())
    return file


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.integers(-(2**200), 2**200), st.integers(0, 2**64), st.floats(0, 1e6), TEXT),
        max_size=6,
    )
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[int, int, float, str]]
) -> None:
    results = tuple(
        Evaluation(PartialResult(k, value, value % 97, evaluated), round(seconds, 6), source)
        for k, (value, evaluated, seconds, source) in enumerate(drawn)
    )
    export = Export("x", KEY, TASKS, results)
    file = written(tmp_path_factory.mktemp("exports"), export)
    assert read_export(file) == export
    shuffled = replace(export, results=results[::-1])
    assert shuffled.to_bytes() == export.to_bytes()


FORMAT_1 = """\
{"format": "langford results 1", "campaign": "seven", "problem": "langford-7", "method": "polyphase", "depth": 8, \
"tasks": 10, "sources": 1, "results": 1}
{"source": "{\\"a\\": \\"\\u00fc\\"}"}
{"task": 3, "value": "-1606938044258990275541962092341162602522202993782792835301376", "residue": "5", \
"evaluated": "2", "seconds": 0.123457, "source": 0}
"""
FORMAT_2 = """\
{"format": "langford results 2", "campaign": "seven", "problem": "langford-7", "method": "polyphase", "depth": 8, \
"seed": 7, "tasks": 10, "promise": 0.5, "voters": 2, "sources": 1, "workers": 1, "results": 3}
{"source": "{}"}
{"host": "node-7", "device_kind": "cuda", "cores": 8, "processes": null, "device_model": "H200", \
"slurm_job": null, "slurm_index": 0}
{"task": 0, "value": "0", "residue": "0", "evaluated": "0", "seconds": 1.0, "source": 0, "drawn": true, \
"voter": 0, "confirmed_by": 1}
{"task": 1, "value": "0", "residue": "0", "evaluated": "0", "seconds": 1.0, "source": 0, "worker": 0, \
"granted": 1.5, "began": null, "ended": 2.125, "decided": true}
{"task": 2, "value": "0", "residue": "0", "evaluated": "0", "seconds": 1.0, "source": 0}
"""


def test_the_bytes_of_a_file_stay_as_they_are() -> None:
    """Each field at least once, and left out at least once."""
    exact = Evaluation(PartialResult(3, -(2**200), 5, 2), 0.12345678, '{"a": "ü"}')
    plain = Export(NAME, KEY, TASKS, (exact,))
    machine = Machine("node-7", "cuda", 8, None, "H200", None, 0)
    promising = Export(
        NAME,
        replace(KEY, seed=7),
        TASKS,
        tuple(Evaluation(PartialResult(index, 0, 0, 0), 1.0, "{}") for index in (2, 1, 0)),
        {1: Computation(5, machine, 1.5, None, 2.12512)},
        Promise(0.5, frozenset([0]), {0: (9, 4), 1: None}),
    )
    for export, body in ((plain, FORMAT_1), (promising, FORMAT_2)):
        seal = json.dumps({"sha256": hashlib.sha256(body.encode()).hexdigest()})
        assert gzip.decompress(export.to_bytes()).decode() == f"{body}{seal}\n"


def test_a_campaign_moves_in_parts_and_repeatedly(ledger: Ledger, tmp_path: Path) -> None:
    half = TASKS // 2
    parts = [
        written(tmp_path, export_of(TRUE[:half]), "a.gz"),
        written(tmp_path, export_of(TRUE[half - 1 :]), "b.gz"),
    ]
    campaign, events = exchange.take(ledger, parts[0])
    assert events == [None] * half
    with pytest.raises(Incomplete):
        campaign.reader.merged()
    for file in (parts[0], parts[1], parts[0], parts[1]):
        exchange.take(ledger, file)
    assert campaign.reader.merged().published == COUNT
    reader = campaign.reader
    assert reader.standing().tasks == {"done": TASKS}
    assert reader.overview().checked.confirmed == 0
    assert read_export(written(tmp_path, campaign.reader.export(), "c.gz")).results == export_of(TRUE).results
    assert exchange.count_of(parts)[1].published == COUNT


def test_another_evaluation_confirms_once_or_conflicts_once(ledger: Ledger, tmp_path: Path) -> None:
    exchange.take(ledger, written(tmp_path, export_of(TRUE)))
    again = written(tmp_path, export_of(TRUE[:2], seconds=0.5))
    assert exchange.take(ledger, again)[1] == [EventKind.CONFIRMED] * 2
    assert exchange.take(ledger, again)[1] == []
    wrong = written(tmp_path, export_of([forged(3)]))
    campaign, events = exchange.take(ledger, wrong)
    assert events == [EventKind.CONFLICT]
    assert exchange.take(ledger, wrong)[1] == []
    with pytest.raises(ConflictingResults):
        campaign.reader.merged()


def test_an_import_overtakes_a_lease(ledger: Ledger, campaign: Campaign, tmp_path: Path) -> None:
    [lease] = campaign.worker.lease("a", 1, 60)
    exchange.take(ledger, written(tmp_path, export_of(TRUE)))
    assert deliver(campaign, lease, TRUE[lease.index]) is EventKind.CONFIRMED
    assert campaign.reader.standing().tasks == {"done": TASKS}


def test_a_result_that_contradicts_itself_takes_the_file_down(ledger: Ledger, campaign: Campaign) -> None:
    """Of a file it is refused before: see ``test_malicious_exports``."""
    bad = replace(TRUE[1], value=TRUE[1].value + 1)
    with pytest.raises(CheckFailed, match="task 1"):
        ledger.take(export_of([TRUE[0], bad]), PLAN, "importer", "host", "1")
    assert campaign.reader.standing().tasks == {"ready": TASKS}


def test_every_damaged_byte_is_noticed(tmp_path: Path) -> None:
    content = export_of(TRUE).to_bytes()
    file = tmp_path / "damaged.gz"
    # Bytes 4–9 of gzip's header hold a date and a system, which are not read.
    for place in (*range(4), *range(10, len(content))):
        file.write_bytes(content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :])
        with pytest.raises(BadExport):
            read_export(file)
    for length in range(0, len(content), 7):
        file.write_bytes(content[:length])
        with pytest.raises(BadExport):
            read_export(file)


def test_an_absent_file_is_no_export(tmp_path: Path) -> None:
    """Others that are none are in ``test_malicious_exports``."""
    advice = r"there is no export .*absent\.gz: check its name, or write it with `langford export`"
    with pytest.raises(BadExport, match=advice):
        read_export(tmp_path / "absent.gz")


def test_exports_of_different_campaigns_do_not_join() -> None:
    other = replace(export_of([]), key=replace(KEY, problem=Problem.langford(8)))
    with pytest.raises(CampaignMismatch):
        joined([export_of(TRUE), other])
    with pytest.raises(ConflictingResults, match=f"`langford verify {NAME} --waiting` decides"):
        joined([export_of(TRUE), export_of([forged(0)])])
    with pytest.raises(CampaignMismatch, match="split"):
        exchange.plan_for(replace(export_of([]), tasks=TASKS + 1))


def test_the_campaigns_kept_here_hold() -> None:
    """And are written as they were read."""
    for file in [*sorted(CAMPAIGNS.glob("*.gz")), *TABLES[::40]]:
        require_that_it_holds(file)
        assert gzip.decompress(read_export(file).to_bytes()) == gzip.decompress(file.read_bytes())


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(PARTS))
def test_the_tables_kept_here_hold(part: int) -> None:
    for file in TABLES[part::PARTS]:
        require_that_it_holds(file)


def require_that_it_holds(file: Path) -> None:
    export = read_export(file)
    plan = exchange.plan_for(export)
    for each in export.results:
        plan.expectation(each.result.index).check(each.result)
    listed = re.search(rf"^\| `{file.name.removesuffix('.jsonl.gz')}` \| (.+?) \|", LISTED, re.MULTILINE)
    if listed and len(export.results) < export.tasks:
        assert listed[1] == f"{len(export.results):,} of {export.tasks:,}"
    elif listed:
        assert listed[1].startswith(("all", "the only one"))
    if len(export.results) == export.tasks:
        count = merge(plan, [each.result for each in export.results]).published
        assert export.promise is None or not export.promise.missing
        known = published(export.key.problem)
        problem = export.key.problem
        # What was counted here first is published in the records, for their row's n, or in a table.
        row = rf"^\| {len(problem.different)} \| {count:,} \|"
        published_here = re.search(row, RECORDS.read_text(), re.MULTILINE) or count == number_in_tables(problem)
        assert count == known if known is not None else published_here
    assert file.stat().st_size < 2 * 2**20
