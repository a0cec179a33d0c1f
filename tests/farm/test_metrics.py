"""What Prometheus gets, read by the library's own parser and compared with the ledger and the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from db import Campaign, Ledger
from db.look.overview import shared
from db.states import Role
from jobs.farm.api import server
from tests.support.asgi import Client
from tests.support.campaigns import (
    HOUR,
    KEY,
    NAME,
    PLAN,
    TASKS,
    delivery,
    forged,
    new_campaign,
    true_deliveries,
)
from tests.support.databases import new_ledger

PAGE = (Path(__file__).parents[2] / "docs" / "http.md").read_text()
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    with new_ledger("sqlite", tmp_path) as ledger:
        ledger.create_campaign("other", KEY, PLAN.work.tolist()).operator.new_token(Role.READER)
        yield new_campaign(ledger)


@pytest.fixture
def client(campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setattr(shared, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(shared, "SHARE", float("inf"))
    with Ledger(str(tmp_path / "ledger.db")) as ledger:
        made = Client(server.application(ledger, [NAME, "other"]))
        yield made
        made.close()


def scrape(client: Client, token: str) -> Samples:
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=")
    families = list(text_string_to_metric_families(answer.text))
    assert all(family.documentation for family in families)
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples[name, frozenset({"campaign": NAME, **labels}.items())]


def test_the_numbers_are_those_of_the_ledger(campaign: Campaign, client: Client) -> None:
    token = campaign.operator.new_token(Role.READER)
    late = campaign.worker.lease("a", 3, -1.0)
    first, second, *rest = campaign.worker.lease("b", TASKS, HOUR)
    by_index = {lease.index: lease for lease in (first, second, *rest)}
    campaign.worker.deliver(true_deliveries(by_index.values()))
    samples = scrape(client, token)
    assert value(samples, "langford_finished") == 1
    assert value(samples, "langford_conflicts") == 0
    campaign.worker.deliver([delivery(late[0], forged(late[0].index))])
    campaign.worker.deliver(true_deliveries(late[1:]))
    samples = scrape(client, token)
    assert value(samples, "langford_tasks_in_total") == TASKS
    assert {state: value(samples, "langford_tasks", state=state) for state in ("done", "ready", "leased")} == {
        "done": TASKS,
        "ready": 0,
        "leased": 0,
    }
    assert value(samples, "langford_work_ratio", state="done") == pytest.approx(1.0)
    assert value(samples, "langford_conflicts") == 1
    assert value(samples, "langford_finished") == 0
    assert value(samples, "langford_attempts_total", outcome="done") == TASKS
    assert value(samples, "langford_confirmations_total") == 2
    assert value(samples, "langford_warnings", kind="conflict") == 1
    workers = {labels: number for (name, labels), number in samples.items() if name == "langford_workers"}
    assert sum(workers.values()) == 2


def test_requests_are_counted_by_route(campaign: Campaign, client: Client) -> None:
    token, worker = campaign.operator.new_token(Role.READER), campaign.operator.new_token(Role.WORKER)
    scrape(client, token)
    client.get(f"/campaigns/{NAME}", headers={"Authorization": f"Bearer {worker}"})
    client.get(f"/campaigns/{NAME}", headers={"Authorization": "Bearer wrong"})
    client.get("/campaigns/nobody", headers={"Authorization": "Bearer wrong"})
    client.request("BREW", "/x/y/z")
    samples = scrape(client, token)
    counted = {
        (labels["method"], labels["path"], labels["status"]): number
        for labels, number in (
            (dict(labels), number)
            for (name, labels), number in samples.items()
            if name == "langford_server_requests_total"
        )
    }
    assert counted == {
        ("GET", "/metrics", "200"): 1,
        ("GET", "/campaigns/{name}", "200"): 1,
        ("GET", "/campaigns/{name}", "403"): 2,
        ("other", "elsewhere", "404"): 1,
    }


def test_a_token_sees_its_own_campaign_and_a_stranger_nothing(campaign: Campaign, client: Client) -> None:
    samples = scrape(client, campaign.operator.new_token(Role.WORKER))
    assert {dict(labels).get("campaign") for _, labels in samples} == {NAME, None}
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 403


def test_the_page_lists_the_metrics(campaign: Campaign, client: Client) -> None:
    leased = campaign.worker.lease("a", TASKS, HOUR)
    campaign.worker.deliver(true_deliveries(leased[:5]))
    token = campaign.operator.new_token(Role.READER)
    client.get("/metrics", headers={"Authorization": f"Bearer {token}"})
    samples = scrape(client, token)
    section = PAGE.split("## Metrics\n", 1)[1].split("\n## ", 1)[0]
    listed = dict[str, set[str]]()
    for names, labels, _ in re.findall(r"^\| (`langford.*?) \| (.*?) ?\| (.*) \|$", section, re.MULTILINE):
        own = set(re.findall(r"`(\w+)`", labels.replace("no `campaign`", "")))
        for name in re.findall(r"`(\w+)`", names):
            listed[name] = own if "no `campaign`" in labels else own | {"campaign"}
    served = {name: {label for label, _ in labels} for name, labels in samples if name.startswith("langford_")}
    assert set(served) <= set(listed)
    assert set(listed) - set(served) <= {"langford_warnings", "langford_remaining_seconds"}
    assert all(listed[name] == labels for name, labels in served.items())
