"""The task server's answers and the wire format, without a network."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from db import Campaign, Credential, Delivery, Lease
from db.errors import ConnectionLost, LedgerError, NoSuchCampaign, TransactionUndone
from db.look import progress
from db.messages import converted, document
from db.records import CampaignInfo
from db.states import Role
from jobs.farm.api.clients import HEADERS
from jobs.farm.api.overviews import Overviews
from langford.errors import BadProblem
from langford.result import PartialResult
from tests.support.asgi import Served
from tests.support.campaigns import (
    NAME,
    TASKS,
    TRUE,
    delivery,
    forged,
)

EQUIPMENT = {"cores": 4, "processes": 2, "device_model": "a chip", "slurm_job": "12", "slurm_index": 3}
WORKER = {
    "worker": str(uuid.UUID(int=7)),
    "host": "h",
    "process": "1",
    "device_kind": "cpu",
    "kernels": "k",
    **EQUIPMENT,
}
LEASE = {"worker": "a", "count": 1, "seconds": 60, "held": [], "copies": 0}
HUGE = st.integers(-(2**200), 2**200)
DELIVERIES = st.builds(
    delivery,
    st.builds(Credential, st.integers(0, 2**40), st.text("-_09azAZ", max_size=64)),
    st.builds(PartialResult, st.integers(0, 2**40), HUGE, HUGE, st.integers(0, 2**200)),
    st.just(0.0) | st.floats(1e-9, 1e9),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=50),
)


class Dialogue(Served):
    """A server of one campaign, and what a worker says to it."""

    def post(self, path: str, role: Role = Role.WORKER, **fields: Any) -> httpx.Response:
        return self.ask("POST", f"/campaigns/NAME{path}", role, fields)

    def lease(self, worker: str, count: int) -> list[Lease]:
        fields = LEASE | {"campaign": self.campaign.uuid, "worker": worker, "count": count}
        return [converted(document, Lease) for document in self.post("/leases", **fields).json()["leases"]]

    def deliver(self, *deliveries: Delivery) -> Any:
        answer = self.post("/results", deliveries=[document(each) for each in deliveries], now=0)
        if answer.status_code != 200:
            return answer.status_code
        events = [receipt["event"] for receipt in answer.json()["receipts"]]
        return [None if event == "accepted" else event for event in events]


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Dialogue]:
    with closing(Dialogue.with_all_roles(tmp_path)) as made:
        yield made


def test_forged_and_corrupted_results(farm: Dialogue) -> None:
    first, second, *_ = farm.lease("a", 3)
    true = delivery(first, TRUE[first.index])
    assert farm.deliver(structs.replace(true, attempt=second.attempt)) == ["refused"]
    assert farm.deliver(structs.replace(true, attempt=999)) == ["refused"]
    assert farm.campaign.reader.overview().attempts == {"running": 3}
    corrupted = replace(TRUE[second.index], value=TRUE[second.index].value + 1)
    assert farm.deliver(delivery(second, corrupted)) == ["refused"]
    for _ in range(2):  # a repeated request changes nothing
        assert farm.deliver(true) == [None]
    assert farm.deliver(delivery(first, forged(first.index))) == ["conflict"]
    assert farm.deliver(delivery(first, PartialResult(TASKS, 0, 0, 0))) == 400
    assert farm.campaign.reader.standing().tasks["done"] == 1


def test_who_may_do_what(farm: Dialogue, tmp_path: Path) -> None:
    assert farm.client.get("/campaigns/seven").status_code == 401
    assert farm.client.get("/campaigns/seven", headers={"Authorization": "Bearer wrong"}).status_code == 403
    own = {"Authorization": f"Bearer {farm.tokens[Role.ADMIN]}"}
    assert farm.client.get("/campaigns/other", headers=own).status_code == 403
    assert farm.post("/leases", Role.READER, **LEASE).status_code == 403
    assert farm.post("/retries", Role.WORKER).status_code == 403
    assert farm.post("/retries", Role.ADMIN).json() == {"reopened": 0}
    assert farm.campaign.operator.revoke() == 3
    assert farm.post("/retries", Role.ADMIN).status_code == 403
    for token in farm.tokens.values():
        for file in tmp_path.iterdir():
            assert token.encode() not in file.read_bytes()


def test_a_renamed_campaign_is_listed_under_the_name_that_is_answered(farm: Dialogue) -> None:
    farm.ledger.campaign(NAME).operator.rename("renamed")
    [listed] = farm.ask("GET", "/campaigns", Role.READER).json()
    assert farm.ask("GET", f"/campaigns/{listed['campaign']}", Role.READER).status_code == 200


def test_a_worker_of_another_campaign_gets_nothing(farm: Dialogue) -> None:
    assert farm.post("/leases", **LEASE, campaign=str(uuid.uuid4())).status_code == 410
    assert farm.campaign.reader.overview().attempts == {}


SECRET = "the password is hunter2"


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (RuntimeError(SECRET), 500, "the server has an error"),
        (BadProblem(SECRET), 500, "the server has an error"),
        (LedgerError(SECRET), 503, "the ledger does not answer"),
        (ConnectionLost(SECRET), 503, "the ledger does not answer"),
        (TransactionUndone(SECRET), 503, "the ledger"),
        (NoSuchCampaign("gone"), 410, "gone"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_is_counted_and_logged_once_and_the_client_learns_nothing(
    farm: Dialogue,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    words: str,
) -> None:
    def fail(self: Overviews, campaigns: Sequence[Campaign]) -> Any:
        raise error

    monkeypatch.setattr(Overviews, "listed", fail)
    answer = farm.ask("GET", "/campaigns", Role.READER)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    said = answer.json()["error"]
    assert words in said
    assert SECRET not in answer.text
    assert ("Retry-After" in answer.headers) == (status == 503)
    assert farm.clients.traffic.answered == {("GET", "/campaigns", status): 1}
    if status != 410:
        [record] = caplog.records
        assert SECRET in record.getMessage()
        assert said.split()[-1] in record.getMessage()
        assert bool(record.exc_info) == (status == 500)


def test_an_error_of_the_database_is_answered(farm: Dialogue, caplog: pytest.LogCaptureFixture) -> None:
    with farm.ledger.database.engine.begin() as connection:
        connection.exec_driver_sql(
            f"CREATE TRIGGER broken BEFORE INSERT ON attempt BEGIN SELECT RAISE(ABORT, '{SECRET}'); END"
        )
    answer = farm.post("/leases", **LEASE, campaign=farm.campaign.uuid)
    assert (answer.status_code, SECRET in answer.text) == (500, False)
    assert [SECRET in record.getMessage() for record in caplog.records] == [True]


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (RuntimeError(SECRET), 500, "the server has an error: its log explains it"),
        (TransactionUndone(SECRET), 503, "the ledger does not answer now: load this page again"),
    ],
)
def test_an_error_of_a_page_is_counted_and_logged_once(
    farm: Dialogue,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    words: str,
) -> None:
    def fail(tokens: Sequence[str]) -> Any:
        raise error

    session = farm.clients.sessions.begin([farm.tokens[Role.READER]])
    monkeypatch.setattr(farm.ledger, "rights", fail)
    answer = farm.client.get("/", headers={"Cookie": f"langford-default={session}"})
    assert (answer.status_code, answer.text) == (status, words)
    assert farm.clients.traffic.answered == {("GET", "/", status): 1}
    [record] = caplog.records
    assert SECRET in record.getMessage()
    assert bool(record.exc_info) == (status == 500)
    assert [farm.client.get(path).status_code for path in ("/a/b/c", "/campaigns/a/b/c")] == [404, 404]


def test_workers_that_start_share_a_view_of_the_tasks_until_one_ends(
    farm: Dialogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Mock(wraps=progress.standing)
    monkeypatch.setattr(progress, "standing", looks)

    def done() -> int:
        return converted(farm.ask("GET", "/campaigns/NAME").json(), CampaignInfo).standing.tasks_done

    assert ([done() for _ in range(20)], looks.call_count) == ([0] * 20, 1)
    for number in range(1, TASKS + 1):
        [lease] = farm.lease("a", 1)
        farm.deliver(delivery(lease, TRUE[lease.index], 1.0))
        assert done() == number


@given(DELIVERIES)
def test_deliveries_travel_unchanged(sent: Delivery) -> None:
    assert converted(json.loads(json.dumps(document(sent))), Delivery) == sent


# -- what every answer has, and what none takes ---------------------------------------------------


def test_other_methods_are_refused_and_those_allowed_named(farm: Dialogue) -> None:
    allowed = {
        "/campaigns": "GET, HEAD",
        "/metrics": "GET, HEAD",
        f"/campaigns/{NAME}": "GET, HEAD",
        f"/campaigns/{NAME}/status": "GET, HEAD",
        f"/campaigns/{NAME}/leases": "POST",
        f"/campaigns/{NAME}/exchanges": "POST",
    }
    for path, method in product(allowed, ["PUT", "DELETE", "PATCH", "OPTIONS"]):
        headers = {"Authorization": f"Bearer {farm.tokens[Role.ADMIN]}"}
        answer = farm.client.request(method, path, headers=headers)
        assert (answer.status_code, answer.headers["Allow"]) == (405, allowed[path])
        assert answer.json()["error"] == f"this address takes {allowed[path]} only"


def test_only_json_is_taken_for_json(farm: Dialogue) -> None:
    for kind in ("", "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "*/*"):
        headers = {"Authorization": f"Bearer {farm.tokens[Role.ADMIN]}", "Content-Type": kind}
        answer = farm.client.post(f"/campaigns/{NAME}/retries", content=b"{}", headers=headers)
        assert (answer.status_code, "application/json" in answer.json()["error"]) == (415, True)
    headers["Content-Type"] = "Application/JSON; charset=utf-8"
    assert farm.client.post(f"/campaigns/{NAME}/retries", content=b"{}", headers=headers).status_code == 200


def test_every_answer_has_the_headers_that_protect_a_browser(farm: Dialogue) -> None:
    """Those of programs and refusals too; over TLS, browsers shall come over TLS again."""
    own = {"Authorization": f"Bearer {farm.tokens[Role.ADMIN]}"}
    for scheme in ("http", "https"):
        for method, path in (
            ("GET", "/campaigns"), ("GET", "/a/b/c"), ("GET", "/campaigns/none"), ("GET", "/"),
            ("GET", "/-/nothing"), ("PUT", "/campaigns"), ("POST", f"/campaigns/{NAME}/leases"),
            ("GET", "/-/icon.svg"), ("POST", "/-/log-in"),
        ):  # fmt: skip
            answer = farm.client.request(method, f"{scheme}://server{path}", headers=own)
            for name, value in HEADERS.items():
                assert answer.headers.get_list(name) == [value], (path, name)
            assert ("Strict-Transport-Security" in answer.headers) == (scheme == "https"), path


def test_a_refusal_for_a_role_names_the_token_in_the_log(farm: Dialogue, caplog: pytest.LogCaptureFixture) -> None:
    number = next(token.token_id for token in farm.campaign.operator.tokens() if token.role is Role.READER)
    assert farm.post("/retries", Role.READER).status_code == 403
    [record] = caplog.records
    assert record.getMessage().endswith(
        f": {NAME}: token {number} of role reader asks for something that needs role admin"
    )
