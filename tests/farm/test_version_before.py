"""What this version writes is decoded by the version before, and what later ones may add is ignored."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from msgspec import structs

from db import Delivery, read_export
from db.errors import BadExport
from db.identity import Identity
from db.states import Ending, Outcome
from jobs.reach.outbox import Outbox
from jobs.reach.requests import ServerRefuses
from jobs.run.source import TaskSource
from langford.devices import CPU
from langford.result import Evaluation
from tests.golden import version_1_1 as before
from tests.support.asgi import Bridge, Served
from tests.support.campaigns import COUNT, GOLDEN, TASKS, TRUE, true_deliveries

LATER, NEW = {"renewals": {"computed"}}, {"ends", "workers"}
"""What requests say since then, and operations: servers of that version refuse all of 2.0 by its number."""


class Recorded(Bridge):
    """Keeps what passes, and may change it."""

    def __init__(self, farm: Served) -> None:
        super().__init__(farm.application)
        self.messages: list[tuple[str, Any, Any]] = []  # (the end of the path, the request, the answer)
        self.asked: dict[str, Any] = {}  # is added to every request
        self.answered: dict[str, Any] = {}  # and to every answer

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        content = request.read()
        if content and self.asked:
            headers = {name: value for name, value in request.headers.items() if name != "content-length"}
            content = json.dumps({**json.loads(content), **self.asked}).encode()
            request = httpx.Request(request.method, request.url, headers=headers, content=content)
        answer = super().handle_request(request)
        assert isinstance(answer.stream, httpx.ByteStream)
        said = json.loads(b"".join(answer.stream))
        self.messages.append((request.url.path.rpartition("/")[2], json.loads(content or "null"), said))
        stream = httpx.ByteStream(json.dumps({**said, **self.answered}).encode())
        return httpx.Response(answer.status_code, headers=answer.headers, stream=stream)


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Served]:
    with closing(Served.with_all_roles(tmp_path)) as made:
        yield made


def work(farm: Served, bridge: Recorded) -> None:
    """Every operation of a worker, until the campaign is done."""
    remote, me = farm.remote(bridge), Identity.fresh([CPU])
    remote.info()
    _, [given, failed, dead, *held] = remote.enrol(me, 5, 60, [])
    remote.renew([given, *held], 60, {held[0].attempt: 3}, {given.attempt: 0.0, held[0].attempt: 2.5})
    remote.end([given], Outcome.PREEMPTED, "SIGTERM", {given.attempt: 0.0})
    remote.end([failed], Outcome.FAILED, "boom", {failed.attempt: 0.5})
    remote.end([dead], Outcome.DIED, "signal 9")
    [first, second] = held
    remote.deliver([Delivery.of(first, Evaluation(TRUE[first.index], 0.5, "{}", 1.5))])
    remote.exchange(list(true_deliveries([second])), me.worker_id, 1, 60, [])
    while leases := remote.lease(me.worker_id, TASKS, 60, []):
        remote.deliver(list(true_deliveries(leases)))
    remote.leave(me.worker_id, Ending.FINISHED)
    remote.close()


def test_every_message_of_a_worker_is_decoded_by_the_version_before(farm: Served) -> None:
    bridge = Recorded(farm)
    work(farm, bridge)
    assert {path for path, _, _ in bridge.messages} == {*before.OPERATIONS, *NEW, farm.campaign.name}
    for path, request, answer in bridge.messages:
        if request is None:
            msgspec.convert(answer, before.CampaignInfo)
            continue
        if path in NEW:
            continue
        kinds = before.OPERATIONS[path]
        known = {name: value for name, value in request.items() if name not in LATER.get(path, ())}
        msgspec.convert(known, kinds[0])
        msgspec.convert(answer, kinds[1])


def test_what_a_later_version_says_more_is_ignored(farm: Served) -> None:
    """By the server in requests, and by the worker in answers."""
    bridge = Recorded(farm)
    bridge.asked = bridge.answered = {"said by a later version": [1, {"a": None}]}
    work(farm, bridge)
    assert farm.campaign.reader.merged().published == COUNT


def test_a_file_is_decoded_by_the_version_before(farm: Served) -> None:
    work(farm, Recorded(farm))
    for content in (farm.campaign.reader.export().to_bytes(), (GOLDEN / "campaign.jsonl.gz").read_bytes()):
        header, *lines = gzip.decompress(content).splitlines()
        said = msgspec.json.decode(header, type=before.Header)
        kinds = [
            *[before.Source] * said.sources,
            *[before.Machine] * said.workers,
            *[before.Line] * said.results,
            before.Seal,
        ]
        assert said.results == TASKS
        assert said.workers
        for kind, line in zip(kinds, lines, strict=True):
            msgspec.json.decode(line, type=kind)


def test_a_file_that_says_more_than_its_format_is_refused(farm: Served, tmp_path: Path) -> None:
    """Who ignored it would check less than the file says."""
    work(farm, Recorded(farm))
    lines = gzip.decompress(farm.campaign.reader.export().to_bytes()).splitlines(keepends=True)
    for number, line in enumerate(lines):
        more = json.dumps({**json.loads(line), "more": 1}).encode() + b"\n"
        file = tmp_path / "more.jsonl.gz"
        file.write_bytes(gzip.compress(b"".join([*lines[:number], more, *lines[number + 1 :]])))
        with pytest.raises(BadExport, match="more"):
            read_export(file)


def test_a_worker_that_cannot_enrol_ends_with_the_reason(farm: Served, tmp_path: Path) -> None:
    """It would ask in vain for ever."""
    me = structs.replace(Identity.fresh(), process="a name that is none")
    tasks = TaskSource(farm.remote(Recorded(farm)), me, Outbox(tmp_path / "outbox", me))
    assert tasks.ready
    with pytest.raises(ServerRefuses, match=r"cannot enrol: .*: worker.process: expected a process as"):
        tasks.lease(1, [])
    tasks.close(Ending.STOPPED)
