"""Campaigns that are cancelled, renamed and deleted, on SQLite and on Postgres."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, inspect, select

from db import Campaign, Ledger, read_export
from db.errors import BadName, LeasesRunning, NoSuchCampaign, TransactionUndone
from db.records import Right
from db.schema.models import Base
from db.states import EventKind, Role, TaskState
from db.work import lifecycle
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from tests.support.campaigns import (
    COUNT,
    HOUR,
    KEY,
    NAME,
    TASKS,
    TRUE,
    deliver,
    finish,
    forged,
    new_campaign,
    true_deliveries,
    write_used_ledger,
)

OTHER = PlanKey(Problem.skolem(8), "polyphase", 8)


pytestmark = pytest.mark.parametrize("ledger", ["sqlite", "postgres"], indirect=True)


def numbers(ledger: Ledger) -> dict[str, int]:
    """The number of rows of each table."""
    with ledger.database.reading() as connection:
        return {
            table.name: connection.scalar(select(func.count()).select_from(table)) or 0
            for table in Base.metadata.sorted_tables
        }


def indices_of(ledger: Ledger) -> set[object]:
    """The names of all indices."""
    inspector = inspect(ledger.database.engine)
    return {index["name"] for table in Base.metadata.sorted_tables for index in inspector.get_indexes(table.name)}


def test_a_cancelled_campaign_grants_nothing_until_it_is_taken_up_again(campaign: Campaign) -> None:
    done, late, _ = campaign.worker.lease("a", 3, HOUR)
    campaign.worker.deliver(true_deliveries([done]))
    assert campaign.operator.cancel() == (2, TASKS - 1)
    assert campaign.operator.cancel() == (0, 0)
    assert campaign.reader.standing().tasks == {TaskState.DONE: 1, TaskState.SET_ASIDE: TASKS - 1}
    assert campaign.worker.lease("b", TASKS, HOUR) == []
    assert [receipt.event for receipt in campaign.worker.deliver(true_deliveries([late]))] == [None]
    assert campaign.operator.reopen() == TASKS - 2
    finish(campaign, "b")
    assert campaign.reader.merged().published == COUNT


def test_a_campaign_gets_another_name(ledger: Ledger, campaign: Campaign) -> None:
    ledger.create_campaign("other", KEY, plan_of(KEY).work.tolist())
    opened_before = ledger.campaign(NAME)
    campaign.operator.rename("eleven")
    assert campaign.name == opened_before.reader.overview().campaign == "eleven"
    assert ledger.campaign("eleven").uuid == campaign.uuid
    with pytest.raises(NoSuchCampaign):
        ledger.campaign(NAME)
    with pytest.raises(BadName, match="has a campaign 'other' already"):
        campaign.operator.rename("other")
    with pytest.raises(BadName, match=r"is not a valid campaign name|cannot be a number"):
        campaign.operator.rename("../other")
    campaign.operator.rename("eleven")  # its own
    assert [one.name for one in ledger.campaigns()] == ["eleven", "other"]


def test_a_deleted_campaign_leaves_nothing_but_its_workers(ledger: Ledger) -> None:
    belonging = {table.name for table in Base.metadata.tables.values() if "campaign_id" in table.columns}
    assert {table.__tablename__ for table in lifecycle.TABLES} == belonging
    write_used_ledger(ledger.database.where)
    campaign = ledger.campaign(NAME)
    other = ledger.create_campaign("other", KEY, plan_of(KEY).work.tolist())
    other.operator.new_token(Role.READER)
    before = numbers(ledger)
    assert all(before.values())  # it has rows in every table
    indices = indices_of(ledger)
    campaign.operator.delete(campaign.reader.trusted_export())
    assert indices_of(ledger) == indices
    left = {"ledger": 1, "campaign": 1, "task": TASKS, "token": 1, "event": 1}
    workers = {name: before[name] for name in ("worker", "voter")}
    assert numbers(ledger) == {**dict.fromkeys(before, 0), **left, **workers}
    assert [one.name for one in ledger.campaigns()] == ["other"]


def test_a_campaign_with_workers_is_not_deleted(ledger: Ledger, campaign: Campaign) -> None:
    campaign.worker.lease("a", 2, HOUR)
    before = numbers(ledger)
    with pytest.raises(LeasesRunning, match=f"2 tasks of {NAME} are with workers: .* `langford cancel {NAME}`"):
        campaign.operator.delete(campaign.reader.trusted_export())
    assert numbers(ledger) == before


def test_a_campaign_is_not_deleted_whose_export_has_other_results(ledger: Ledger, campaign: Campaign) -> None:
    """As many as before, but another one: votes have decided meanwhile."""
    finish(campaign, "a")
    export, kept = campaign.reader.export(), campaign.reader.trusted_export()
    before = numbers(ledger)
    changed = replace(export.results[0], result=forged(0)), *export.results[1:]
    for results in (export.results[:-1], changed):
        with pytest.raises(TransactionUndone, match="nothing is deleted"):
            campaign.operator.delete(replace(kept, content=replace(export, results=results).to_bytes()))
    assert numbers(ledger) == before
    assert campaign.reader.results() == TRUE


def test_what_is_in_doubt_is_not_exported(ledger: Ledger, campaign: Campaign, tmp_path: Path) -> None:
    mine, late = campaign.worker.lease("a", 2, HOUR)
    campaign.operator.take_back("for b")
    [again] = [lease for lease in campaign.worker.lease("b", 2, HOUR) if lease.index == mine.index]
    deliver(campaign, again, forged(again.index))
    assert deliver(campaign, mine, TRUE[mine.index]) is EventKind.CONFLICT
    campaign.operator.take_back("for a")
    finish(campaign, "a")
    campaign.operator.question([late.index])
    kept = campaign.reader.trusted_export()
    assert kept.left_out == tuple(sorted([mine.index, late.index]))
    (tmp_path / "kept.gz").write_bytes(kept.content)
    read = read_export(tmp_path / "kept.gz")
    assert {each.result for each in read.results} == set(TRUE) - {TRUE[index] for index in kept.left_out}
    assert len(campaign.reader.export().results) == TASKS
    campaign.operator.delete(kept)
    assert ledger.campaigns() == []


def test_a_campaign_that_was_deleted_is_not_the_next_one(ledger: Ledger) -> None:
    """SQLite gives its number again: a server that has it open would fill the new campaign with its results."""
    old = new_campaign(ledger)
    token = old.operator.new_token(Role.WORKER)
    old.operator.delete(old.reader.trusted_export())
    new = ledger.create_campaign(NAME, OTHER, plan_of(OTHER).work.tolist())
    token_of_new = new.operator.new_token(Role.WORKER)
    assert ledger.rights([token, token_of_new]) == [
        Right(new.uuid, Role.WORKER, token_of_new, new.operator.tokens()[0].token_id)
    ]
    for operation in (
        lambda: old.worker.lease("a", 1, HOUR),
        lambda: old.worker.deliver([]),
        lambda: old.operator.rename("eleven"),
        lambda: old.operator.delete(old.reader.trusted_export()),
        old.operator.cancel,
        old.reader.results,
        old.reader.standing,
        old.reader.overview,
    ):
        with pytest.raises(NoSuchCampaign, match=f"'{NAME}' was deleted"):
            operation()
    assert new.reader.standing().tasks == {TaskState.READY: new.tasks}
