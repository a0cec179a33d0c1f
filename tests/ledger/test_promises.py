"""Promises travel with results: through files, joined files and imports, and no file raises or lowers one."""

from __future__ import annotations

import gzip
import itertools
import json
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update

from db import Campaign, Export, Ledger, Promise, joined, read_export
from db.errors import BadExport, ConflictingResults, TransactionUndone, Unreplicated
from db.files.forms import FORMAT, WITH_PROMISE
from db.files.promise import Voters, digest, document, in_words, joined_promise, lot
from db.schema import models
from db.schema.models import Event, Voter
from db.states import EventKind, Role
from jobs.verify import exchange
from langford.errors import Incomplete
from langford.result import Evaluation
from tests.support.campaigns import (
    COUNT,
    HOUR,
    KEY,
    NAME,
    TASKS,
    TRUE,
    delivery,
    finish,
    forged,
    new_campaign,
    terms_of,
    true_deliveries,
    with_token,
)
from tests.support.enrolling import enrol

ALL = frozenset(range(TASKS))
KEPT = Promise(1.0, ALL, dict.fromkeys(range(TASKS), (0, 1)))
BROKEN = Promise(1.0, ALL)
NOTHING = Promise(0.0)


def export_of(promise: Promise | None, tasks: range = range(TASKS), lie: int | None = None) -> Export:
    """The results of some tasks, one of them perhaps a lie."""
    results = [forged(index) if index == lie else TRUE[index] for index in tasks]
    export = Export(NAME, KEY, TASKS, tuple(Evaluation(each, 0.25, '{"host": "far"}') for each in results))
    return replace(export, promise=None if promise is None else promise.without(ALL - set(tasks)))


def written(folder: Path, export: Export, name: str = "seven.jsonl.gz") -> Path:
    file = folder / name
    file.write_bytes(export.to_bytes())
    return file


def take(ledger: Ledger, folder: Path, export: Export) -> Campaign:
    """Import it as a file."""
    return exchange.take(ledger, written(folder, export, f"{uuid.uuid4()}.gz"))[0]


def stated(campaign: Campaign) -> Promise | None:
    """What an export promises, but for its draw."""
    promise = campaign.reader.promise()
    return None if promise is None else replace(promise, draw="", secret="")


def promised_campaign(ledger: Ledger, share: float = 1.0) -> Campaign:
    campaign = new_campaign(ledger)
    campaign.operator.raise_share(share)
    return campaign


# -- files ------------------------------------------------------------------------------------


@st.composite
def promises(draw: st.DrawFn) -> Promise | None:
    """What files of the campaign may say."""
    share = draw(st.sampled_from([None, 0.0, 0.02, 0.5, 1.0]))
    if share is None:
        return None
    drawn = ALL if share == 1 else draw(st.frozensets(st.sampled_from(range(TASKS)))) if share else frozenset()
    pairs = st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] != pair[1])
    confirmed: dict[int, Voters | None] = draw(
        st.dictionaries(st.sampled_from(range(TASKS)), st.none() | pairs, max_size=TASKS)
    )
    secret = draw(st.sampled_from(["", "0" * 64, "1" * 64])) if share else ""
    if secret:
        drawn |= {index for index in ALL if lot(secret, index) < share}
    known = digest(secret) if secret else draw(st.sampled_from(["", digest("0" * 64)])) if share else ""
    return Promise(share, drawn, confirmed, known, secret).renumbered()


TASK_SETS = st.tuples(st.integers(0, TASKS), st.integers(0, TASKS)).map(lambda ends: range(*sorted(ends)))
EXPORTS = st.builds(export_of, promises(), TASK_SETS)


@settings(max_examples=40)
@given(EXPORTS)
def test_what_is_promised_is_read(tmp_path_factory: pytest.TempPathFactory, export: Export) -> None:
    read = read_export(written(tmp_path_factory.mktemp("promises"), export))
    assert read == export
    assert read.to_bytes() == export.to_bytes()
    turned = replace(export, results=export.results[::-1])
    if export.promise is not None:
        # Other numbers of the same voters, as in another ledger.
        other = {
            index: None if voters is None else (voters[0] + 70, voters[1] + 70)
            for index, voters in reversed(export.promise.confirmed.items())
        }
        turned = replace(turned, promise=replace(export.promise, confirmed=other))
    assert turned.to_bytes() == export.to_bytes()


@settings(max_examples=30)
@given(st.lists(EXPORTS, min_size=1, max_size=3))
def test_joining_never_lowers_a_promise(exports: list[Export]) -> None:
    promise = joined(exports).promise
    stated = [each.promise for each in exports if each.promise is not None]
    share = max((each.share for each in stated), default=0.0)
    assert (0.0 if promise is None else promise.share) == share
    assert (promise is None) == (not share and len(stated) < len(exports))
    for order in itertools.permutations(exports):
        again = joined(order).promise
        assert (again is None) == (promise is None)
        if again is not None and promise is not None:
            assert (again.drawn, again.confirmed.keys()) == (promise.drawn, promise.confirmed.keys())
    assert joined([*exports, *exports]).promise == promise or len(exports) > 1
    if promise is None:
        return
    held = {each.result.index for export in exports for each in export.results}
    assert promise.drawn | promise.confirmed.keys() <= held
    for export in exports:
        own = {each.result.index for each in export.results}
        said = export.promise or NOTHING
        assert said.drawn <= promise.drawn
        assert own & promise.confirmed.keys() <= said.confirmed.keys()
        assert said.missing <= promise.missing
        if said.share < promise.share:
            assert own <= promise.drawn
        assert promise.draw in ("", said.draw)


def test_voters_of_two_files_stay_apart() -> None:
    first, second = Promise(1.0, frozenset([0]), {0: (0, 1)}), Promise(1.0, frozenset([1]), {1: (1, 0)})
    promise = joined_promise([([0], first), ([1], second)])
    assert promise is not None
    assert promise.confirmed == {0: (0, 1), 1: (2, 3)}
    copied = joined_promise([([0], first), ([0], first)])
    assert copied == first


def test_a_file_states_a_promise_or_is_as_it_was(ledger: Ledger, tmp_path: Path) -> None:
    bare = json.loads(gzip.decompress(export_of(None).to_bytes()).splitlines()[0])
    stated = json.loads(gzip.decompress(export_of(NOTHING).to_bytes()).splitlines()[0])
    assert bare["format"] == FORMAT
    assert stated == {**bare, "format": WITH_PROMISE, "promise": 0.0}
    campaign = new_campaign(ledger)
    finish(campaign, "a")
    assert campaign.reader.promise() == read_export(written(tmp_path, campaign.reader.export())).promise == NOTHING


def test_what_is_promised_is_said_in_words() -> None:
    some = Promise(0.5, frozenset(range(6)), dict.fromkeys((0, 1, 2, 3, 9), (0, 1)), "0" * 64)
    assert in_words(None) == "no promise recorded"
    assert in_words(NOTHING) == "no replication requested (--replicate 0)"
    assert in_words(some) == "4 of 6 drawn results replicated by independent voters (--replicate 0.5)"
    assert in_words(replace(some, draw="")) == f"{in_words(some)}; which were drawn is only stated"  # by 1.x
    assert document(None) == {"promised": None, "promise": in_words(None)}
    assert document(NOTHING) == {"promised": 0.0, "promise": in_words(NOTHING)}
    said = {"promised": 0.5, "promise": in_words(some), "drawn": 6, "replicated": 4, "draw": "0" * 64}
    assert document(some) == said
    assert document(replace(some, secret="s")) == {**said, "secret": "s"}


def test_files_are_merged_as_their_promise_says(tmp_path: Path) -> None:
    kept, broken, stripped = (
        written(tmp_path, export_of(promise), f"{name}.gz")
        for name, promise in (("kept", KEPT), ("broken", BROKEN), ("stripped", None))
    )
    assert "replicated by independent voters" in exchange.count_of([kept])[1].checks[-1]
    assert exchange.count_of([kept, kept])[1].checks == exchange.count_of([kept])[1].checks
    assert exchange.count_of([stripped])[1].published == COUNT  # this goes unnoticed: a checksum is no signature
    for files in ([broken], [kept, stripped], [stripped, kept], [kept, broken], [stripped, broken]):
        with pytest.raises(
            Unreplicated, match=f"0 of {TASKS} drawn results replicated .*`langford import "
        ) as waits:
            exchange.count_of(files)
        assert f"`langford verify {NAME} --waiting`" in str(waits.value)
        assert "--unconfirmed`" in str(waits.value)
        counted = exchange.count_of(files, unconfirmed=True)[1]
        assert counted.published == COUNT
        assert counted.checks[-1].startswith(f"NOT CONFIRMED: 0 of {TASKS}")


def test_parts_that_promise_less_do_not_pass_for_more(tmp_path: Path) -> None:
    """An enemy keeps one honest part, and writes the other one anew, without its promise."""
    half = TASKS // 2
    honest = written(tmp_path, export_of(KEPT, range(half)), "honest.gz")
    for promise in (None, NOTHING, Promise(0.02)):
        other = written(tmp_path, export_of(promise, range(half, TASKS)), "other.gz")
        with pytest.raises(Unreplicated, match=f"{half} of {TASKS} drawn"):
            exchange.count_of([honest, other])
    with pytest.raises(Incomplete):
        exchange.count_of([honest])


# -- ledgers ----------------------------------------------------------------------------------


def test_an_export_says_who_confirmed_what_and_not_who_they_are(ledger: Ledger, tmp_path: Path) -> None:
    campaign = promised_campaign(ledger)
    token = campaign.operator.new_token(Role.WORKER)
    enrol(ledger, "stranger", "their-host", "1", terms=terms_of(token))
    campaign.worker.deliver(true_deliveries(with_token(campaign, token).lease("stranger", TASKS, HOUR)))
    assert stated(campaign) == BROKEN
    again = campaign.worker.lease("b", TASKS - 1, HOUR)
    campaign.worker.deliver(true_deliveries(again))
    early = campaign.reader.export().promise
    assert early is not None
    assert not early.secret
    left = min(ALL - {lease.index for lease in again})
    campaign.operator.judge([Evaluation(TRUE[left], 0.5, "{}")], "operator", "operating", "1")
    confirmed = {**dict.fromkeys(ALL, (0, 1)), left: None}
    file = written(tmp_path, campaign.reader.export())
    assert stated(campaign) == Promise(1.0, ALL, confirmed)
    assert read_export(file).promise == campaign.reader.promise()
    assert exchange.count_of([file])[1].published == COUNT
    with ledger.database.reading() as connection:
        digests = set(connection.scalars(select(Voter.token).where(Voter.token != "")))
        secret_of_draw = connection.scalar(select(models.Campaign.secret))
    text = gzip.decompress(file.read_bytes()).decode()
    assert (secret_of_draw in text, digest(secret_of_draw)) == (True, early.draw)  # nothing is left to do
    secrets = [campaign.uuid, ledger.uuid, token, *digests, "host-b", "operating"]
    assert not [secret for secret in secrets if secret in text]


def test_a_confirmation_by_who_is_trusted_no_more_is_not_stated(ledger: Ledger) -> None:
    campaign = promised_campaign(ledger)
    finish(campaign, "a")
    finish(campaign, "b")
    assert stated(campaign) == KEPT
    with ledger.database.writing() as connection:
        connection.execute(update(Voter).where(Voter.host == "host-b").values(distrusted=1.0))
    assert stated(campaign) == BROKEN


def test_confirmations_in_a_file_are_no_votes(ledger: Ledger, tmp_path: Path) -> None:
    """Whoever forges a file can state them: results wait here, also in a campaign that the file creates."""
    campaign = take(ledger, tmp_path, export_of(KEPT, lie=3))
    with pytest.raises(Unreplicated, match=f"0 of {TASKS}"):
        campaign.reader.results()
    assert campaign.reader.rechecked_tasks() == list(range(TASKS))
    with ledger.database.reading() as connection:
        detail = connection.scalar(select(Event.detail).where(Event.kind == EventKind.IMPORT))
    assert f"it states: {in_words(KEPT)}, which are no votes here" in str(detail)
    for worker in "ab":
        enrol(ledger, worker, f"host-{worker}", "1")
    finish(campaign, "a")
    with pytest.raises(ConflictingResults):
        campaign.reader.results()
    finish(campaign, "b")
    finish(campaign, "a")
    assert campaign.reader.results() == TRUE


@pytest.mark.parametrize("promise", [None, NOTHING, Promise(0.02, frozenset([2]))])
def test_an_import_keeps_a_larger_share(ledger: Ledger, tmp_path: Path, promise: Promise | None) -> None:
    campaign = promised_campaign(ledger)
    take(ledger, tmp_path, export_of(promise))
    assert ledger.campaign(NAME).recheck_share == 1.0
    with pytest.raises(Unreplicated):
        campaign.reader.results()


def test_an_import_raises_a_smaller_share(ledger: Ledger, campaign: Campaign, tmp_path: Path) -> None:
    """What is done already is drawn then, and what the file draws, even if it brings nothing new."""
    finish(campaign, "a")
    assert len(campaign.reader.results()) == TASKS
    export = replace(campaign.reader.export(), promise=Promise(1e-9, frozenset([4])))
    assert take(ledger, tmp_path, export).recheck_share == 1e-9
    assert campaign.reader.rechecked_tasks() == [4]
    with pytest.raises(Unreplicated, match="0 of 1 drawn"):
        campaign.reader.results()
    with ledger.database.reading() as connection:
        [detail] = connection.scalars(select(Event.detail).where(Event.kind == EventKind.IMPORT))
    assert detail.startswith(f"0 of {TASKS} results are new here")
    take(ledger, tmp_path, replace(export, promise=BROKEN))
    assert campaign.reader.rechecked_tasks() == list(range(TASKS))
    take(ledger, tmp_path, replace(export, promise=None))
    assert ledger.campaign(NAME).recheck_share == 1.0
    finish(campaign, "b")
    assert campaign.reader.results() == TRUE


def test_a_campaign_of_files_without_a_promise_records_none(ledger: Ledger, tmp_path: Path) -> None:
    campaign = take(ledger, tmp_path, export_of(None))
    assert campaign.reader.promise() is None
    assert campaign.reader.export().to_bytes() == export_of(None).to_bytes()
    assert campaign.reader.merged().published == COUNT


def test_a_campaign_is_not_deleted_when_its_export_lacks_its_promise(ledger: Ledger, campaign: Campaign) -> None:
    finish(campaign, "a")
    before = campaign.reader.trusted_export()
    campaign.operator.raise_share(1.0)
    drawn = campaign.reader.trusted_export()
    finish(campaign, "b")
    for export in (
        before,
        drawn,
        replace(drawn, content=replace(campaign.reader.export(), promise=None).to_bytes()),
    ):
        with pytest.raises(TransactionUndone, match="nothing is deleted"):
            campaign.operator.delete(export)
    campaign.operator.delete(campaign.reader.trusted_export())
    assert ledger.campaigns() == []


def test_a_contested_result_needs_no_promise(ledger: Ledger, campaign: Campaign, tmp_path: Path) -> None:
    """Without a share only what others contradicted is drawn, and a file says who confirmed it."""
    mine, *_ = campaign.worker.lease("a", TASKS, HOUR)
    campaign.operator.take_back("for b")
    [again] = [lease for lease in campaign.worker.lease("b", TASKS, HOUR) if lease.index == mine.index]
    campaign.worker.deliver([delivery(again, forged(again.index))])
    campaign.worker.deliver(true_deliveries([mine]))
    campaign.operator.take_back("for c")
    enrol(ledger, "c", "host-c", "1")
    finish(campaign, "c")
    assert campaign.reader.results() == TRUE
    export = read_export(written(tmp_path, campaign.reader.export()))
    assert export.promise == Promise(0.0, frozenset(), {mine.index: (0, 1)})


def test_anyone_draws_again_what_a_complete_file_promises(ledger: Ledger, tmp_path: Path) -> None:
    """A file that marks less than its secret draws is refused, and joined files of two draws publish none."""
    campaign = promised_campaign(ledger, 0.9)  # one of ten at least, but for one in ten billion secrets
    finish(campaign, "a")
    finish(campaign, "b")
    promise = read_export(written(tmp_path, campaign.reader.export())).promise
    assert promise is not None
    assert promise.drawn == {task for task in ALL if lot(promise.secret, task) < promise.share}
    assert joined_promise([(ALL, promise), (ALL, replace(promise, secret=""))]) == promise
    other = joined_promise([(ALL, promise), (ALL, replace(promise, draw=digest("other"), secret=""))])
    assert other == replace(promise, draw="", secret="")
    less = replace(promise, drawn=promise.drawn - {min(promise.drawn)})
    with pytest.raises(BadExport, match="whose result is not marked as drawn"):
        read_export(written(tmp_path, replace(campaign.reader.export(), promise=less)))


def test_an_import_is_drawn_by_the_secret_of_its_new_ledger_too(ledger: Ledger, tmp_path: Path) -> None:
    campaign = take(ledger, tmp_path, export_of(Promise(0.5, frozenset([2]))))
    with ledger.database.reading() as connection:
        secret = connection.scalar(select(models.Campaign.secret))
    assert campaign.reader.rechecked_tasks() == sorted({2} | {task for task in ALL if lot(str(secret), task) < 0.5})
