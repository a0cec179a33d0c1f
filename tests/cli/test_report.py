"""Reports: their numbers against counting by hand, what stands in them, and that no text of strangers gets out."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape as html_unescaped
from html.parser import HTMLParser
from pathlib import Path
from unittest.mock import patch
from xml.etree import ElementTree

import numpy as np
import pytest
from sqlalchemy import update

from db import Campaign, Export, Ledger, read_export
from db.look.figures.attempts import Elapsed, LostAttempts, lost_by_outcome
from db.look.figures.campaign import AcceptedResults, CampaignFigures, measured
from db.look.figures.durations import TimesByTask
from db.look.figures.occupancy import Occupancy, Spans, computed
from db.look.history import History
from db.machines import Machine
from db.records import Computation
from db.schema.models import Worker
from db.states import Outcome
from docs.scripts import fetched, sample_report
from jobs.show.report import content, gathering
from jobs.show.report.formats import html, svg
from jobs.show.report.gathering import Evidence
from jobs.show.report.measured import CAMPAIGNS
from jobs.verify import exchange
from langford.methods import PlanKey, plan_of
from langford.result import Evaluation
from tests.support.campaigns import (
    COUNT,
    HOUR,
    KEY,
    NAME,
    PLAN,
    TASKS,
    TRUE,
    deliver,
    delivery,
    finish,
    forged,
    new_campaign,
)
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol

ROOT = Path(__file__).parents[2]
L28 = ROOT / "jobs" / "campaigns" / "langford-28-polyphase-16.jsonl.gz"


@cache
def of_l28() -> Evidence:
    """The evidence of a large export."""
    return gathering.of_files([L28])


@cache
def page_of_l28() -> str:
    return html.page(of_l28())


HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e$\\frac{1}{2}$ ]]></style>'\"&amp;"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A report asks either database for the same history, as :func:`test_the_report_of_a_real_campaign` shows."""
    with new_ledger("sqlite", tmp_path) as opened:
        yield opened


# -- numbers ----------------------------------------------------------------------------------


@dataclass
class ByHand:
    """Attempts (task, worker, granted, began, ended, outcome, seconds of the result); the done ones are accepted.

    Attributes:
        now: the time of the report.
        devices: how many each worker has; None: unknown.
    """

    attempts: list[tuple[int, int, float, float, float, Outcome | None, float]]
    now: float = 1000.0
    devices: Sequence[int | None] = (None,) * 9
    models: Sequence[str | None] = (None,) * 9
    sources: Sequence[str] = ("{}",)

    @property
    def done(self) -> list[tuple[int, int, float, float, float, Outcome | None, float]]:
        return sorted(attempt for attempt in self.attempts if attempt[5] is Outcome.DONE)

    @property
    def lost(self) -> tuple[LostAttempts, ...]:
        return lost_by_outcome(())

    @property
    def elapsed(self) -> Elapsed | None:
        began = [granted if math.isnan(began) else began for _, _, granted, began, *_ in self.done]
        return Elapsed(min(began), max(attempt[4] for attempt in self.done)) if began else None

    @property
    def last_held(self) -> float:
        return max(self.now if math.isnan(attempt[4]) else attempt[4] for attempt in self.attempts)

    def results(self) -> Iterator[AcceptedResults]:
        for task, worker, _, _, ended, _, seconds in self.done:
            none = np.zeros(1, np.int32)
            columns = np.array([task], np.int32), np.array([seconds]), np.array([ended]), none, none > 0
            yield AcceptedResults(*columns, np.array([worker], np.int32))

    @property
    def further(self) -> tuple[int, float]:
        seconds = [each[6] for each in self.attempts if each[5] is not Outcome.DONE and not math.isnan(each[6])]
        return len(seconds), sum(seconds)

    def spans(self, parts: int = 1) -> Iterator[Spans]:
        """``parts``: in so many batches."""
        rows = sorted(self.attempts, key=lambda attempt: attempt[2])
        for some in np.array_split(np.arange(len(rows)), parts):
            numbers = [[*rows[place][:5], rows[place][6]] for place in some]
            _, worker, granted, began, ended, seconds = np.array(numbers, np.float64).reshape(-1, 6).T
            has_none = np.isnan(seconds)
            said = np.where(has_none, np.where(np.isnan(ended), self.now, ended) - began, seconds)
            yield Spans.of(worker.astype(np.int32), granted, ended, np.where(has_none, NAN, began), said, self.now)

    def computed(self, number: int, parts: int = 1) -> Occupancy:
        found = computed(self.spans(parts), self.devices, self.last_held, number)
        assert found is not None
        return found

    @property
    def figures(self) -> CampaignFigures:
        return measured(self, PLAN.work)

    @property
    def history(self) -> History:
        return History(
            name="by-hand",
            uuid="u",
            key=KEY,
            now=self.now,
            source="here",
            figures=self.figures,
            all_workers=0,
            imported_workers=0,
            hosts=frozenset(),
            events=(),
            event_counts={},
            conflicts=(),
        )


NAN = math.nan


def test_the_numbers_of_a_campaign_counted_by_hand() -> None:
    past = ByHand(
        [
            (0, 0, 0.0, 10.0, 110.0, Outcome.DONE, 100.0),
            (1, 0, 0.0, 110.0, 200.0, Outcome.DONE, 80.0),  # waited 10 s until it was delivered
            (2, 0, 110.0, NAN, 200.0, Outcome.PREEMPTED, NAN),  # never began
            (2, 1, 50.0, 50.0, 80.0, Outcome.EXPIRED, NAN),
            (2, 2, 100.0, 100.0, 400.0, Outcome.DONE, 300.0),
            (1, 2, 400.0, 400.0, 470.0, Outcome.SUPERSEDED, 70.0),
            (3, 2, 470.0, 470.0, NAN, None, NAN),  # runs
        ]
    )
    found = past.figures
    assert found.times is not None
    assert (found.done, found.tasks, found.times.mean, found.times.most) == (3, TASKS, 160.0, 300.0)
    assert found.times.deviation == pytest.approx(np.std([100, 80, 300]) / 160)
    assert (found.effective, found.began, found.ended, found.elapsed) == (480.0, 10.0, 400.0, 390.0)
    assert found.occupancy == pytest.approx(480 / 390)
    assert (found.repeated, found.repeated_seconds) == (1, 70.0)
    assert found.most_devices == 2


def test_a_late_result_of_an_expired_lease_is_a_further_one() -> None:
    past = ByHand([(0, 0, 0.0, 0.0, 10.0, Outcome.EXPIRED, 50.0), (0, 1, 20.0, 20.0, 60.0, Outcome.DONE, 40.0)])
    found = past.figures
    assert (found.repeated, found.repeated_seconds) == (1, 50.0)


def test_a_device_is_occupied_by_what_it_computes() -> None:
    """The leases of tasks that wait for a device, and a few milliseconds between two clocks, occupy none."""
    past = ByHand(
        [
            (0, 0, 0.0, 0.0, 102.0, Outcome.DONE, 100.002),
            (1, 0, 0.0, 0.0, 100.0, Outcome.DONE, 100.0),
            (2, 0, 0.0, 100.0, 200.0, Outcome.DONE, 100.0),
            (3, 0, 0.0, 100.001, 200.0, Outcome.DONE, 99.999),
            (4, 0, 0.0, 200.0, NAN, None, NAN),  # its worker was killed, and never said when the next one began
            (5, 0, 0.0, 0.0, 150.0, Outcome.DIED, NAN),
            (6, 1, 90.0, 90.0, 170.0, Outcome.DIED, NAN),
        ],
        now=300.0,
        devices=(2, 1),
    )
    for parts in (1, 3):
        shown = past.computed(6, parts)
        assert shown.most == 3
        assert shown.devices == pytest.approx([2.0, 2.2, 3.0, 2.4, 1.0, 1.0], abs=1e-3)
    assert past.figures.occupancy == pytest.approx(400 / 200, abs=1e-3)


# -- a real campaign --------------------------------------------------------------------------


def troubled(ledger: Ledger) -> Campaign:
    """A finished campaign with an attempt that was preempted, one that failed, and a lie that was outvoted."""
    campaign = new_campaign(ledger, "abcd")
    campaign.operator.raise_share(1.0)
    first, second, third = campaign.worker.lease("a", 3, HOUR)
    campaign.worker.end([first], Outcome.PREEMPTED, "SIGTERM")
    campaign.worker.end([second], Outcome.FAILED, "it breaks")
    deliver(campaign, third, forged(third.index))
    for worker in "bcdbcd":
        finish(campaign, worker)
    return campaign


def source(host: str = "host-b", **more: str) -> str:
    return json.dumps({"host": host, "device": "cpu", "kernels": "0123456789abcdef", "numpy": "2.0", **more})


def text_of(found: Evidence) -> str:
    """What the page says, without its tags; its figures, which take nearly all of the time, are not drawn."""
    with patch.object(html, "inline", return_value=""):
        page = html.page(found)
    return " ".join(re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<style\b.*?</style>", " ", page)).split())


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_report_of_a_real_campaign(tmp_path: Path, kind: str) -> None:
    with new_ledger(kind, tmp_path) as ledger:
        found = gathering.of_campaign(troubled(ledger))
    shown = text_of(found)
    assert found.count is not None
    assert found.count.published == COUNT
    assert all(f"{check[:1].upper()}{check[1:]}." in shown for check in found.count.checks)
    assert "Agrees with the published value" in shown
    assert "2 results that contradict others, 1 contradiction settled" in shown
    assert "1 worker trusted no more" in shown
    assert "None is open." in shown
    assert "preempted a signal took the worker" in shown
    assert "failed the evaluation raised an error" in shown
    assert f"langford run 7 --method polyphase --depth {KEY.depth}" in shown
    assert "What is not known" not in shown
    assert {"task-times", "occupancy", "throughput"} == set(found.figures)


def test_an_unfinished_campaign_says_what_it_waits_for(ledger: Ledger) -> None:
    campaign = new_campaign(ledger)
    shown = text_of(gathering.of_campaign(campaign))
    assert f"0 of {TASKS} tasks are done" in shown
    assert "There is no count to cite." in shown
    assert "Nothing has been computed yet" in shown
    [lease] = campaign.worker.lease("a", 1, HOUR)
    campaign.worker.end([lease], Outcome.FAILED, "it breaks", {lease.attempt: 0.5})
    assert "time of all" in text_of(gathering.of_campaign(campaign))
    lease, _ = campaign.worker.lease("a", 2, HOUR)
    campaign.worker.deliver([delivery(lease, TRUE[lease.index], provenance=source())])
    shown = text_of(gathering.of_campaign(campaign))
    assert f"No count yet: {TASKS - 1} of {TASKS} tasks have no result yet" in shown
    assert "1 worker on 2 hosts" in shown


def test_a_wrong_count_is_said_first(ledger: Ledger) -> None:
    campaign = new_campaign(ledger)
    leases = campaign.worker.lease("a", TASKS, HOUR)
    # A multiple of what the total must be divisible by, which no check finds.
    wrong = forged(0, (PLAN.multiplier << 1) >> PLAN.expectation(0).zero_bits or 1)
    campaign.worker.deliver([delivery(one, wrong if one.index == 0 else TRUE[one.index]) for one in leases])
    found = gathering.of_campaign(campaign)
    assert found.agreement is not None
    assert found.agreement.agrees is False
    assert content.paragraph(found) is None
    shown = text_of(found)
    assert shown.index("The count cannot be right: it differs from") < shown.index("elapsed time")


def test_an_open_conflict_stops_the_count(ledger: Ledger) -> None:
    campaign = new_campaign(ledger)
    leases = campaign.worker.lease("a", TASKS, HOUR)
    campaign.worker.deliver([delivery(one, TRUE[one.index]) for one in leases])
    ledger.take(Export(NAME, KEY, TASKS, (Evaluation(forged(3), 0.5, "{}"),)), PLAN, "w", "elsewhere", "1")
    shown = text_of(gathering.of_campaign(campaign))
    assert "No count, although all tasks are done" in shown
    assert "Still open: task 3" in shown


def test_imported_results_have_no_times(ledger: Ledger) -> None:
    results = tuple(Evaluation(result, 0.25, source()) for result in TRUE)
    campaign, _ = ledger.take(Export(NAME, KEY, TASKS, results), PLAN, "importer", "host", "2")
    found = gathering.of_campaign(campaign)
    assert (found.figures, found.numbers.elapsed, found.numbers.aborted) == (["task-times"], None, None)
    assert "the files that they come from do not say so" in text_of(found)


# -- the paragraph of a paper ----------------------------------------------------------------


def test_a_paper_cites_a_count_with_all_that_proves_it(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    campaign = new_campaign(ledger)
    said = source(device="cuda:0 NVIDIA H200", langford="1.0.0")
    campaign.worker.deliver(
        [delivery(one, TRUE[one.index], provenance=said) for one in campaign.worker.lease("a", TASKS, HOUR)]
    )
    unwritten = content.paragraph(gathering.of_campaign(campaign, others=ledger.campaigns()))
    file = tmp_path / f"{NAME}.jsonl.gz"
    file.write_bytes(campaign.reader.export().to_bytes())
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert str(unwritten).endswith(f"`langford export {NAME}` writes the partial results.")
    found = gathering.of_campaign(campaign, others=ledger.campaigns())
    cited = content.paragraph(found)
    assert found.count is not None
    assert cited is not None
    for words in (
        f"L(2,7) = {COUNT} up to reversal was computed with langford 1.0.0, kernels 0123456789abcdef",
        f"(campaign {NAME}, UUID {campaign.uuid}) by the method polyphase, split at depth {KEY.depth} into",
        "on NVIDIA H200 (",
        f"Checks passed: {'; '.join(found.count.checks)}.",
        "The count is the published one (A014552).",
        "This ledger records no second count.",
        f"The partial results are kept in {NAME}.jsonl.gz (SHA-256 {digest}).",
    ):
        assert words in cited
    assert cited in html_unescaped(text_of(found))
    from_file = content.paragraph(gathering.of_files([file]))
    assert from_file == cited.replace(f", UUID {campaign.uuid}", "").replace("This ledger", "This file")
    with patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes()))):
        assert content.paragraph(gathering.of_files([Path("-")])) == from_file


def test_another_sum_confirms_or_forbids_the_paragraph(ledger: Ledger) -> None:
    campaign = new_campaign(ledger)
    finish(campaign, "a")
    deeper = PlanKey(KEY.problem, KEY.method, KEY.depth + 2)
    seconds = [PlanKey(KEY.problem, "godfrey", 8), deeper]
    for key in seconds:
        plan = plan_of(key)
        second = ledger.create_campaign(key.method + str(key.depth), key, plan.work.tolist())
        leases = second.worker.lease("a", len(plan.tasks), HOUR)
        second.worker.deliver([delivery(one, plan.evaluate(one.index)) for one in leases])
    found = gathering.of_campaign(campaign, others=ledger.campaigns())
    assert [each.second[0] for each in found.confirmations] == ["godfrey8"], "the same sum confirms nothing"
    assert "The campaign godfrey8 gives the same count, using godfrey at depth 8." in str(content.paragraph(found))
    [confirmation] = found.confirmations
    another = dataclasses.replace(confirmation.counts[1], arrangements=confirmation.counts[1].arrangements + 4)
    differs = dataclasses.replace(confirmation, counts=(confirmation.counts[0], another))
    found = dataclasses.replace(found, confirmations=(differs,))
    assert content.paragraph(found) is None
    assert "Do not cite this count: the two counts differ" in text_of(found)


# -- exported files ---------------------------------------------------------------------------


def test_the_report_of_an_export_says_what_it_does_not_know() -> None:
    found = of_l28()
    shown = text_of(found)
    assert "1,607,383,260,609,382,393,152" in shown
    assert found.figures == ["task-times"]
    assert "What is not known" in shown
    assert "1 host: NVIDIA H200" in shown
    theirs = CAMPAIGNS["langford-28"]
    assert all(value in shown for value in theirs.values() if value)


GPU = Machine("node-1", "cuda", 96, 4, "NVIDIA H200", "1234", 7)
CPU = Machine("node-2", "cpu", 8, 8, "a chip", None, None)
START = 1_750_000_000.0
"""2025-06-15 15:06:40 UTC."""


def exported(known: int = TASKS) -> Export:
    """All results, 9 s each, one every 10 s: of even tasks by a GPU, of odd ones by a processor.

    Args:
        known: of so many results the export tells worker and times.
    """
    told = {
        index: Computation(
            index % 2,
            CPU if index % 2 else GPU,
            START + 10 * index,
            START + 10 * index + 0.5,
            START + 10 * index + 9.5,
        )
        for index in range(known)
    }
    results = tuple(Evaluation(result, 9.0, source()) for result in TRUE)
    return Export(NAME, KEY, TASKS, results, told)


def written(folder: Path, export: Export) -> Path:
    file = folder / "seven.jsonl.gz"
    file.write_bytes(export.to_bytes())
    return file


def require_the_times_of_the_export(found: Evidence) -> None:
    """The numbers of :func:`exported`, wherever they were read."""
    assert set(found.figures) == {"task-times", "occupancy", "throughput"}
    told, elapsed = found.numbers, 10 * (TASKS - 1) + 9.0
    assert (told.began, told.ended) == (START + 0.5, START + 10 * (TASKS - 1) + 9.5)
    assert told.elapsed == pytest.approx(elapsed)
    assert told.occupancy == pytest.approx(9 * TASKS / elapsed)
    assert told.most_devices == 1
    assert found.hosts >= {"node-1", "node-2"}
    assert (told.lost, told.aborted, told.repeated) == (None, None, None)
    assert "Not known: only accepted results are recorded." in text_of(found)
    assert any("attempts without a result" in text for text in found.missing)


def test_an_export_tells_workers_and_times(tmp_path: Path) -> None:
    found = gathering.of_files([written(tmp_path, exported())])
    require_the_times_of_the_export(found)
    shown = text_of(found)
    assert "2025-06-15 15:06:40" in shown
    assert "NVIDIA H200" in shown
    assert not any("were computed" in text for text in found.missing)


def test_an_import_keeps_workers_and_times_for_a_report(ledger: Ledger, tmp_path: Path) -> None:
    campaign, _ = ledger.take(read_export(written(tmp_path, exported())), PLAN, "importer", "host", "2")
    found = gathering.of_campaign(campaign)
    require_the_times_of_the_export(found)
    assert not any("were computed" in text for text in found.missing)


def test_an_occupancy_is_that_of_the_tasks_whose_times_are_known(tmp_path: Path) -> None:
    known = TASKS - 3
    found = gathering.of_files([written(tmp_path, exported(known))])
    elapsed = 10 * (known - 1) + 9.0
    assert (found.numbers.done, found.numbers.timed) == (TASKS, known)
    assert found.numbers.effective == 9 * TASKS
    assert found.numbers.occupancy == pytest.approx(9 * known / elapsed)
    assert found.numbers.hourly == pytest.approx(known / elapsed * 3600)
    assert any(text.startswith("when 3 of its tasks were computed") for text in found.missing)
    assert f"those of the {known} tasks whose times are known" in text_of(found)


def test_a_ledger_says_which_of_its_results_have_no_times(ledger: Ledger) -> None:
    """Some tasks were imported without times, then workers did the rest."""
    some = tuple(Evaluation(result, 5.0, source()) for result in TRUE[:3])
    campaign, _ = ledger.take(Export(NAME, KEY, TASKS, some), PLAN, "importer", "host", "2")
    enrol(ledger, "w", "host-w", "1")
    leases = campaign.worker.lease("w", TASKS, HOUR)
    campaign.worker.deliver([delivery(one, TRUE[one.index], 0.001) for one in leases])
    found = gathering.of_campaign(campaign)
    assert (found.numbers.done, found.numbers.timed, found.numbers.aborted) == (TASKS, TASKS - 3, 0)
    assert found.numbers.timed_seconds == pytest.approx(0.001 * (TASKS - 3))
    assert any(text.startswith("when 3 of its tasks were computed") for text in found.missing)


def test_the_files_of_imports_are_named(ledger: Ledger, tmp_path: Path) -> None:
    campaign, _ = exchange.take(ledger, written(tmp_path, exported()))
    shown = text_of(gathering.of_campaign(campaign))
    named = shown.index("Imported files, oldest first")
    assert "seven.jsonl.gz" in shown[named : named + 200]


# -- the page ---------------------------------------------------------------------------------


class Elements(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def hostile(ledger: Ledger) -> Evidence:
    """The evidence of a campaign whose workers chose their names and notes with malice."""
    campaign = new_campaign(ledger, "")
    enrol(ledger, "evil", HOSTILE[:255], HOSTILE[:80])
    with ledger.database.writing() as connection:
        connection.execute(
            update(Worker).values(device_model=HOSTILE, slurm_job=HOSTILE[:40], device_kind=HOSTILE[:10])
        )
    lost, *leases = campaign.worker.lease("evil", TASKS, HOUR)
    campaign.worker.end([lost], Outcome.FAILED, HOSTILE * 50)
    forms = [
        source(HOSTILE, device=f"cuda:0 {HOSTILE}", kernels=HOSTILE, numpy=HOSTILE),
        "[" * 3000,
        '"x"',
        HOSTILE,
    ]
    campaign.worker.deliver(
        [delivery(one, TRUE[one.index], provenance=forms[place % 4]) for place, one in enumerate(leases)]
    )
    return gathering.of_campaign(campaign)


@pytest.mark.exhaustive
def test_texts_of_strangers_stay_texts(tmp_path: Path) -> None:
    with new_ledger("sqlite", tmp_path) as ledger:
        found = hostile(ledger)
        page = html.page(found)
    elements = Elements()
    elements.feed(page)
    tags = {tag for tag, _ in elements.found}
    assert not tags & {"script", "iframe", "object", "link", "base", "form", "img"}
    assert not any(name.startswith("on") for _, attributes in elements.found for name in attributes)
    assert "&lt;script&gt;" in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert len(page) < 1_000_000
    drawn = re.findall("<svg.*?</svg>", page, re.DOTALL)
    assert len(list(map(ElementTree.fromstring, drawn))) == 2 * len(found.figures)


def test_the_page_stands_alone() -> None:
    page = page_of_l28()
    elements = Elements()
    elements.feed(page)
    [policy] = [
        attributes["content"]
        for tag, attributes in elements.found
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "script" not in policy
    fetched = [
        (tag, attributes.get(name))
        for tag, attributes in elements.found
        for name in ("src", "href", "xlink:href", "data", "poster")
        if attributes.get(name) and tag != "a" and not str(attributes[name]).startswith(("#", "data:"))
    ]
    assert fetched == []
    names = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(names) == len(set(names))
    used = re.findall(r"(?:url\(|href=\")#([\w-]+)", page)
    assert set(used) <= set(names)
    assert "#0a0b0" not in page, "a colour of the figures that the page does not know"


def test_of_many_tasks_the_shortest_and_the_longest_of_each_range_are_shown() -> None:
    times, seconds = TimesByTask(7), np.arange(1.0, 7.0)
    times.add(np.arange(6, dtype=np.int32), seconds)
    assert list(times.shortest[:6]) == list(times.longest[:6]) == list(seconds)
    assert np.isnan(times.longest[6])
    many = 50_000
    times, seconds = TimesByTask(many), np.random.default_rng(1).random(many)
    for part in np.array_split(np.arange(many, dtype=np.int32), 3):
        times.add(part, seconds[part])
    first = range(int(times.edges[1]))
    assert (times.shortest[0], times.longest[0]) == (min(seconds[first]), max(seconds[first]))
    assert (times.least, times.most) == (seconds.min(), seconds.max())
    assert (times.mean, times.deviation) == (
        pytest.approx(seconds.mean()),
        pytest.approx(seconds.std() / seconds.mean()),
    )
    found = of_l28()
    figures = dataclasses.replace(found.numbers, tasks=many, times=times)
    large = dataclasses.replace(found, history=dataclasses.replace(found.history, figures=figures))
    assert "shortest to longest of 70 tasks" in (picture := svg.standing_alone("task-times", large).decode())
    assert len(picture) < 100_000


@pytest.mark.parametrize(
    "seconds",
    [[1e-320, 0.5, 9e29], [0.0, 1e-320]],
    ids=str,
)
def test_any_times_make_a_report(seconds: list[float]) -> None:
    """Ledgers of earlier versions have every time that a worker has said."""
    past = ByHand([(k, 0, 0.0, 10.0, 20.0, Outcome.DONE, time) for k, time in enumerate(seconds)]).history
    found = Evidence(past, None, "x", None, "", (), "soon")
    assert "task-times" in found.figures
    assert text_of(found)
    assert svg.standing_alone("task-times", found)


# -- the sample -------------------------------------------------------------------------------


def test_the_sample_of_the_site_is_the_report_of_the_export() -> None:
    page = sample_report.page()
    assert "1,607,383,260,609,382,393,152" in re.sub(r"<wbr>", "", page)
    assert len(page.encode()) < 1_000_000
    assert list(fetched.addresses(page)) == []
