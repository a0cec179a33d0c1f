"""Servers and workers of different versions: one minor version apart they work, otherwise both say what to do."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import fields

import db.records
from db import attempts, identity
from db.identity import Identity
from db.look.overview import records
from db.states import Ending, Role, TaskState
from jobs.farm.api import server
from jobs.reach import requests, wire
from jobs.reach.outbox import Outbox
from jobs.reach.remote import RemoteCampaign
from jobs.reach.requests import ServerAway, ServerRefuses
from jobs.reach.wire import HEADER, SPOKEN, WireVersion
from jobs.run.source import TaskSource
from tests.support.asgi import Bridge, Client, Served
from tests.support.campaigns import NAME, TASKS, true_deliveries

DOCS = Path(__file__).parents[2] / "docs"
GOLDEN = Path(__file__).parents[1] / "golden" / "wire.txt"
NEXT = WireVersion(SPOKEN.major, SPOKEN.minor + 1)
NEWER = [WireVersion(SPOKEN.major, SPOKEN.minor + 2), WireVersion(SPOKEN.major + 1, SPOKEN.minor)]
OLDER = [WireVersion(SPOKEN.major - 1, SPOKEN.minor)]


class Versions(Served):
    """A server of a campaign, and workers of other versions."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch

    def worker(self, version: WireVersion = SPOKEN, *hidden: str) -> RemoteCampaign:
        """The campaign as a worker sees it; ``hidden``: headers that are lost on the way."""
        self.monkeypatch.setattr(requests, "SPOKEN", version)
        return self.remote(Bridge(self.application, *hidden))

    def work(self, worker: RemoteCampaign) -> None:
        """Work the campaign off."""
        me = Identity.fresh()
        tasks = TaskSource(worker, me, Outbox(self.folder / "outbox", me))
        assert tasks.ready
        leases = tasks.lease(TASKS, [])
        tasks.deliver(list(zip(leases, true_deliveries(leases), strict=True)))
        tasks.close(Ending.FINISHED)
        assert self.campaign.reader.standing().tasks == {TaskState.DONE: TASKS}


@pytest.fixture
def farm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Versions]:
    with closing(Versions.with_all_roles(tmp_path)) as made:
        made.folder, made.monkeypatch = tmp_path, monkeypatch
        yield made


@pytest.mark.parametrize("version", [SPOKEN, NEXT], ids=str)
def test_one_minor_version_apart_none_is_refused(farm: Versions, version: WireVersion) -> None:
    """By the header; 2.0 is the first version of these messages, so that no other one has other fields yet."""
    farm.work(farm.worker(version))


def test_without_a_version_they_work(farm: Versions) -> None:
    """A program of a user states none."""
    farm.work(farm.worker(SPOKEN, HEADER.lower()))


@pytest.mark.parametrize("version", [*NEWER, *OLDER], ids=str)
def test_further_apart_both_say_who_is_older(
    farm: Versions, version: WireVersion, caplog: pytest.LogCaptureFixture
) -> None:
    older, newer = ("client", "server") if version < SPOKEN else ("server", "client")
    worker = farm.worker(version)
    with caplog.at_level(logging.INFO), pytest.raises(ServerRefuses) as raised:
        farm.work(worker)
    worker.close()
    said = str(raised.value).partition(f"/campaigns/{NAME}: ")[2]
    assert said.startswith(f"the {older} is older than the {newer} (messages {min(version, SPOKEN)} and")
    assert ("upgrade langford on the server" if older == "server" else "install the server's version") in said
    [line] = {record.getMessage() for record in caplog.records if "older" in record.getMessage()}
    assert said in line


@pytest.mark.parametrize("version", [*NEWER, *OLDER], ids=str)
def test_a_worker_that_does_not_look_is_refused_for_good(farm: Versions, version: WireVersion) -> None:
    """With a status that ends workers of every version, and before it gets a lease."""
    client = Client(
        farm.application, headers={"Authorization": f"Bearer {farm.tokens[Role.WORKER]}", HEADER: str(version)}
    )
    body = {"campaign": farm.campaign.uuid, "worker": "a", "count": 9, "seconds": 60, "held": [], "copies": 0}
    answer = client.post(f"/campaigns/{NAME}/leases", json=body)
    client.close()
    assert (answer.status_code, answer.headers[HEADER]) == (403, str(SPOKEN))
    assert re.match("the (client|server) is older than", answer.json()["error"])
    assert farm.campaign.reader.overview().attempts == {}


def test_versions_that_are_none(farm: Versions, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(farm.application, headers={"Authorization": f"Bearer {farm.tokens[Role.WORKER]}"})
    for said in ("", "1", "1.1.1", "-1.0", "1.x", "1.\u0661", "9" * 9 + ".0"):
        answer = client.get(f"/campaigns/{NAME}", headers={HEADER: said.encode()})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(f"{HEADER}: expected a version like {SPOKEN}, got")
    client.close()
    monkeypatch.setattr(server, "PRIVATE", {HEADER: "<html>"})
    with pytest.raises(ServerAway, match="gave an unexpected answer"):
        farm.worker().info()


def test_the_pages_have_this_version() -> None:
    page = (DOCS / "compatibility.md").read_text()
    rows = re.findall(r"^\| (\d+\.\d+) \| ", page.partition("## Server and workers")[2], re.MULTILINE)
    listed = [WireVersion.stated(row) for row in rows]
    assert listed[0] == SPOKEN
    assert listed == sorted(listed, reverse=True)
    assert f"`{HEADER}`" in page
    assert f"`{HEADER}: {SPOKEN}`" in (DOCS / "http.md").read_text()


def test_a_change_of_the_messages_changes_their_version() -> None:
    """Their fields are kept with the version that has them.

    Whoever changes a field raises SPOKEN, lists it in docs/compatibility.md, sees that the previous version is
    still understood, and writes the file anew with LANGFORD_GOLDEN=write.
    """
    forms = {
        kind.__name__: [field.encode_name + ("" if field.required else "?") for field in fields(kind)]
        for module in (wire, identity, attempts, records, db.records)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind.__module__ == module.__name__
    }
    lines = [f"messages {SPOKEN}", *(f"{name}: {', '.join(names)}" for name, names in sorted(forms.items()))]
    if os.environ.get("LANGFORD_GOLDEN") == "write":
        GOLDEN.write_text("\n".join(lines) + "\n")
    assert lines == GOLDEN.read_text().splitlines()
