"""docs/http.md says what the server does: its routes, roles and statuses, and the fields of every message."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

from db import Lease
from db.messages import converted
from db.states import Role
from jobs.farm.api import server
from jobs.farm.guard.bodies import RESULTS
from langford.errors import BadInput
from tests.support.asgi import Served
from tests.support.campaigns import shown_by, true_deliveries

PAGE = (Path(__file__).parents[2] / "docs" / "http.md").read_text()
ROUTES = re.findall(r"^\| (GET|POST) \| `(\S+)` \| (\w+) \| \[.*\]\(#([\w-]+)\) \|$", PAGE, re.MULTILINE)
SECTIONS = {
    title.lower().replace(" ", "-"): text
    for title, text in zip(*[iter(re.split(r"^## (.*)\n", PAGE, flags=re.MULTILINE)[1:])] * 2, strict=True)
}


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Served]:
    with closing(Served.with_all_roles(tmp_path)) as made:
        yield made


def messages(section: str) -> list[Any]:
    """The documents in the blocks of a section: the request, if the route takes one, and the answer."""
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", SECTIONS[section], re.DOTALL)]


def shape(value: Any, open_keys: bool = False) -> Any:
    """The names and types of a document, without its values; numbers are of one type."""
    if isinstance(value, dict):
        inner = {key: shape(entry, key.endswith("_by_state")) for key, entry in value.items()}
        return sorted({str(kind) for kind in inner.values()}) if open_keys else inner
    if isinstance(value, list):
        return [shape(entry) for entry in value[:1]]
    return "number" if type(value) in (int, float) else type(value).__name__


def test_the_routes_are_those_of_the_server(farm: Served) -> None:
    served = {
        (method, route.path.replace("{name}", "NAME"))
        for route in farm.application.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert {(method, path) for method, path, _, _ in ROUTES} == served - {("GET", "/health")}
    assert len(ROUTES) == len(served) - 1


def test_anyone_learns_that_the_server_answers_and_nothing_else(farm: Served) -> None:
    for token in (None, "wrong"):
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        answer = farm.client.get("/health", headers=headers)
        assert (answer.status_code, answer.content) == (200, b"")
    assert farm.client.post("/health").status_code == 405


def test_a_route_wants_its_role(farm: Served) -> None:
    for method, path, role, _ in ROUTES:
        for own in Role:
            allowed = own.includes(Role(role))
            assert (farm.ask(method, path, own).status_code != 403) == allowed, (path, own)


def test_a_reader_asks_a_server_what_a_task_waits_for(farm: Served) -> None:
    remote = farm.remote()
    assert remote.why(0) == farm.campaign.reader.why(0)
    assert remote.why() == farm.campaign.reader.why()
    with pytest.raises(BadInput, match="has no task 1000000"):
        remote.why(1_000_000)
    for wrong in ("x", "-1", "1" * 10, "1.0", "%D9%A3"):
        answer = farm.ask("GET", f"/campaigns/NAME/why?task={wrong}", Role.READER)
        assert answer.status_code == 400, wrong
        assert "the number of a task" in answer.json()["error"]


def test_the_statuses_are_those_of_the_server() -> None:
    answered = {refusal.status for refusal in server.REFUSALS.values()}
    shown = {int(status) for status in re.findall(r"^\| (\d{3}) \|", SECTIONS["statuses"], re.MULTILINE)}
    assert shown == answered | {200}
    assert f"at most {RESULTS.size // 2**20} MiB" in PAGE


def test_the_examples_are_answered_as_the_page_shows(farm: Served) -> None:
    order = sorted(
        (route for route in ROUTES if route[3] != "metrics"),
        key=lambda route: PAGE.index(f"\n## {route[3].replace('-', ' ').capitalize()}\n"),
    )
    leases: dict[int, Lease] = {}
    for method, path, role, section in order:
        *requests, answer = messages(section)
        [document] = requests or [None]
        document = _here(document, farm.campaign.uuid, leases)
        got = farm.ask(method, path, Role(role), document)
        assert got.status_code == 200, (section, got.text)
        assert shape(got.json()) == shape(answer), section
        if section in ("register-a-worker", "lease-tasks"):
            granted = [converted(lease, Lease) for lease in got.json()["leases"]]
            leases |= enumerate(granted, len(leases) + 1)
    assert len(leases) == 3
    assert farm.campaign.reader.overview().attempts == {"done": 1, "failed": 1, "running": 2}


def _here(document: Any, campaign: str, leases: dict[int, Lease]) -> Any:
    """A request of the page with what differs here: the UUID of the campaign, attempts, nonces and results."""
    if isinstance(document, list):
        return [_here(entry, campaign, leases) for entry in document]
    if not isinstance(document, dict):
        return document
    changed = {key: _here(value, campaign, leases) for key, value in document.items()}
    if "campaign" in changed:
        changed["campaign"] = campaign
    if "held" in changed:
        changed["held"] = [leases[number].attempt for number in document["held"]]
    if "attempt" in changed:
        lease = leases[document["attempt"]]
        changed |= shown_by(lease)
        if "value" in changed:
            [delivery] = true_deliveries([lease])
            changed = {key: getattr(delivery, key) for key in changed}
    return changed
