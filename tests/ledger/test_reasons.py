"""Why a worker gets no task, and why a task waits, in words."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from db import Campaign, Ledger
from db.errors import LedgerError, TooManyLeases, UnknownWorker, WorkerDistrusted, WrongToken
from db.schema.models import Token
from db.states import Doubt, Outcome, Role, TaskState
from db.trust.holding import MAX_FRUITLESS
from db.trust.reasons import Asking, Left, TaskFacts, refusal, why_it_waits, why_no_task
from langford.errors import BadInput
from tests.support.campaigns import HOUR, TASKS, TRUE, delivery, forged, let_be_drawn, terms_of, true_deliveries
from tests.support.enrolling import enrol

NOTHING = Left("seven", 0, 0, 0)


@pytest.mark.parametrize(
    ("asking", "left", "error", "why"),
    [
        (Asking(None, "t"), NOTHING, UnknownWorker, "enrol it first"),
        (Asking("t", "u"), NOTHING, WrongToken, "enrolled with another token"),
        (Asking("t", "t", is_revoked=True), NOTHING, WrongToken, "was revoked"),
        (Asking("t", "t", is_distrusted=True), NOTHING, WorkerDistrusted, "found a result of this worker wrong"),
        (Asking("t", "t", is_fruitless=True), NOTHING, TooManyLeases, "brought no result"),
        (Asking("t", "t", room=0.0), NOTHING, TooManyLeases, "hold their share"),
        (Asking("t", "t"), NOTHING, None, "when it asks the next time"),
        (Asking("t", "t", room=0.0, ready=False), Left("seven", 5, 1, 2), None, "others hold 5 tasks"),
        (
            Asking("", "", ready=False),
            Left("seven", 0, 1, 2),
            None,
            "2 results wait for a voter with another token",
        ),
        (Asking("", "", ready=False), Left("seven", 0, 1, 0), None, "`langford retry seven`"),
        (Asking("", "", ready=False), NOTHING, None, "nothing is left to do"),
    ],
)
def test_why_a_worker_gets_no_task(asking: Asking, left: Left, error: type[LedgerError] | None, why: str) -> None:
    refused = refusal(asking)
    assert (None if refused is None else type(refused)) is error
    assert why in why_no_task(asking, left)
    assert refused is None or str(refused) == why_no_task(asking, left)


@pytest.mark.parametrize(
    ("task", "why"),
    [
        (TaskFacts("seven", TaskState.READY), "ready: the next worker that asks gets it"),
        (TaskFacts("seven", TaskState.READY, larger=2), "gets it after 2 larger tasks"),
        (TaskFacts("seven", TaskState.LEASED, held=["a until T"]), "leased by a until T"),
        (
            TaskFacts("seven", TaskState.SET_ASIDE, reason="3 attempts failed"),
            "set aside, 3 attempts failed: `lang",
        ),
        (TaskFacts("seven", TaskState.DONE, result="by a"), "done by a, not drawn"),
        (
            TaskFacts("seven", TaskState.DONE, result="by a", confirmed="b", must_be_confirmed=True),
            "confirmed by b",
        ),
        (
            TaskFacts("seven", TaskState.DONE, result="by a", must_be_confirmed=True, voters=["b"], held=["c"]),
            "done by a, drawn: it waits for another voter; b may do it; leased by c",
        ),
        (
            TaskFacts("seven", TaskState.DONE, doubt=Doubt.CONFLICT),
            "contested: it waits for another voter; start a worker with another token (`langford token seven`)",
        ),
        (TaskFacts("seven", TaskState.DONE, doubt=Doubt.QUESTION), "in question: it waits"),
        (TaskFacts("seven", TaskState.DONE, doubt=Doubt.TIE), "`langford verify seven --waiting` decides"),
    ],
)
def test_why_a_task_waits(task: TaskFacts, why: str) -> None:
    assert why in why_it_waits(task)


@pytest.mark.parametrize("ledger", ["sqlite", "postgres"], indirect=True)
def test_a_campaign_explains_what_waits(campaign: Campaign) -> None:
    campaign.worker.end(campaign.worker.lease("b", 1, HOUR))  # it works for this campaign
    first, *others = campaign.worker.lease("a", TASKS, HOUR)
    assert campaign.reader.why(first.index)[0].startswith("leased by a on host-a until ")
    assert campaign.reader.why() == [
        f"b on host-b: no task is ready: others hold {TASKS} tasks; after a minute it gets a copy of one"
    ]
    campaign.worker.end([first], Outcome.FAILED, "boom")
    assert campaign.reader.why(first.index)[0].startswith("ready: the next worker that asks gets it")
    for _ in range(2):
        [again] = campaign.worker.lease("a", 1, HOUR)
        campaign.worker.end([again], Outcome.FAILED, "boom")
    assert "gets a task when it asks the next time" in campaign.reader.why()[0]
    campaign.worker.deliver(true_deliveries(others))
    index = others[0].index
    assert "not drawn" in campaign.reader.why(index)[0]
    let_be_drawn(campaign, index)
    assert "drawn: it waits for another voter; host-b may do it" in campaign.reader.why(index)[0]
    [second] = [lease for lease in campaign.worker.lease("b", TASKS, HOUR) if lease.index == index]
    campaign.worker.deliver([delivery(second, forged(index))])
    assert "contested: it waits for another voter; start a worker" in campaign.reader.why(index)[0]
    with pytest.raises(BadInput, match=f"its tasks are 0 to {TASKS - 1}"):
        campaign.reader.why(TASKS)


def test_a_lease_is_refused_for_the_reason_that_is_explained(ledger: Ledger, campaign: Campaign) -> None:
    token = campaign.operator.new_token(Role.WORKER)
    mine = campaign.worker.on(terms_of(token))
    enrol(ledger, "theirs", "elsewhere", "1", terms=terms_of(token))
    campaign.worker.deliver([delivery(lease, TRUE[lease.index]) for lease in campaign.worker.lease("a", 1, HOUR)])
    with ledger.database.writing() as connection:
        connection.execute(update(Token).values(fruitless=MAX_FRUITLESS))
    with pytest.raises(TooManyLeases) as refused:
        mine.lease("theirs", 1, HOUR)
    assert f"theirs on elsewhere: {refused.value}" in campaign.reader.why()
