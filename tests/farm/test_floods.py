"""Floods by strangers and by readers: what they cost, counted and not timed, and that workers go before them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import resource
import selectors
import socket
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from db import Campaign, Ledger
from db.campaign.reader import ReaderCampaign
from db.records import Right
from db.states import Role
from db.work.tokens import digest
from jobs.farm.api import server
from jobs.farm.api.clients import Clients
from jobs.farm.guard import bodies
from jobs.farm.guard.access import KnownTokens
from jobs.farm.guard.bounds import READING, TOKENS_OF_A_SESSION, WORKING
from jobs.farm.guard.charges import Payer
from tests.support.asgi import Client
from tests.support.campaigns import KEY, NAME, PLAN
from tests.support.databases import new_ledger
from tests.support.farm import CAMPAIGN, Farm
from tests.support.farm import NAME as FARMED
from tests.support.statements import statements_of

EQUIPMENT = dict.fromkeys(["cores", "processes", "device_model", "slurm_job", "slurm_index"])


@pytest.fixture
def campaigns(tmp_path: Path) -> Iterator[tuple[Ledger, list[Campaign]]]:
    """A ledger with more campaigns than a session has tokens."""
    with new_ledger("sqlite", tmp_path) as ledger:
        names = [NAME, *(f"{NAME}-{place}" for place in range(TOKENS_OF_A_SESSION))]
        yield ledger, [ledger.create_campaign(name, KEY, PLAN.work.tolist()) for name in names]


@pytest.fixture(scope="module")
def server_of_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    """A real server, for tests that change nothing."""
    made = Farm(tmp_path_factory.mktemp("farm"), CAMPAIGN)
    yield made
    made.stop()


@contextlib.contextmanager
def serving(ledger: Ledger, made: list[Campaign]) -> Iterator[Client]:
    client = Client(server.application(ledger, [campaign.name for campaign in made], Clients()))
    yield client
    client.close()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}


def log_in(client: Client, *tokens: str) -> None:
    for token in tokens:
        assert client.post("/-/log-in", data={"token": token}).status_code == 303


# -- what a look-up costs -------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", f"/{NAME}/", "/campaigns", "/metrics", f"/campaigns/{NAME}/status"])
def test_an_invented_session_is_no_look_up(campaigns: tuple[Ledger, list[Campaign]], path: str) -> None:
    with serving(*campaigns) as client, statements_of() as done:
        invented = {"Cookie": f"a=b; langford-default={'x' * 43}"}
        assert client.get(path, headers=invented).status_code in (200, 401)
    assert len(done) == 0


def test_many_right_tokens_are_one_look_up(campaigns: tuple[Ledger, list[Campaign]]) -> None:
    ledger, made = campaigns
    with serving(ledger, made) as client:
        log_in(client, *(campaign.operator.new_token(Role.READER) for campaign in made))
        client.get("/campaigns")  # the overviews are known from now on
        with statements_of() as done:
            answer = client.get("/campaigns")
    assert len(done) == 1
    # Of more tokens than a session has, the newest count.
    assert [one["campaign"] for one in answer.json()] == [campaign.name for campaign in made[-TOKENS_OF_A_SESSION:]]


def test_known_tokens_are_few_and_forgotten() -> None:
    tokens = KnownTokens(most=3)

    def note(token: str) -> None:
        tokens.note(token, [Right("campaign", Role.WORKER, token, 1)])

    for token in "rwa":
        note(token)
    assert tokens.first_known(["wrong", "r", "w"]) == Payer(digest("r"))
    asked = [("campaign", Role.READER), ("campaign", Role.WORKER), ("campaign", Role.ADMIN), ("other", Role.READER)]
    assert [tokens.gives(["wrong", "w"], *each) for each in asked] == [True, True, False, False]
    tokens.note("w", [])
    assert tokens.first_known(["w"]) is None
    for token in "rbc":
        note(token)
    assert [tokens.first_known([token]) for token in "arbc"] == [None, *(Payer(digest(each)) for each in "rbc")]
    assert tokens.first_known([]) is None


# -- who waits for whom ---------------------------------------------------------------------------


async def lease(http: httpx.AsyncClient, campaign: Campaign, token: str) -> httpx.Response:
    """A new worker's first lease."""
    worker = str(uuid.uuid4())
    identity = {"worker": worker, "host": "h", "process": "1", "device_kind": "cpu", "kernels": "k", **EQUIPMENT}
    path = f"/campaigns/{campaign.name}"
    fields = {"campaign": campaign.uuid, "worker": worker, "count": 1, "seconds": 60, "held": [], "copies": 0}
    return await http.post(f"{path}/workers", json={"worker": identity, "lease": fields}, headers=bearer(token))


def while_held(
    ledger: Ledger,
    made: list[Campaign],
    flood: Callable[[httpx.AsyncClient], Awaitable[httpx.Response]],
    is_held: Callable[[], bool],
    release: Callable[[], None],
) -> tuple[httpx.Response, list[httpx.Response]]:
    """A worker's lease while the requests of a flood wait in their threads; the answers to both."""
    application = server.application(ledger, [campaign.name for campaign in made], Clients())

    async def run() -> tuple[httpx.Response, list[httpx.Response]]:
        token = made[0].operator.new_token(Role.WORKER)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url="http://server") as http:
            assert (await lease(http, made[0], token)).status_code == 200
            waiting = [asyncio.ensure_future(flood(http)) for _ in range(3 * (WORKING + READING))]
            try:
                while not is_held():
                    await asyncio.sleep(0.01)
                granted = await asyncio.wait_for(lease(http, made[0], token), 60)
                assert not any(one.done() for one in waiting)
            finally:
                release()
            return granted, list(await asyncio.gather(*waiting))

    return asyncio.run(run())


def test_workers_do_not_wait_for_the_look_ups_of_strangers(
    campaigns: tuple[Ledger, list[Campaign]], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, made = campaigns
    lock, inside, look_up = threading.Event(), list[int](), ledger.rights

    def held(shown: list[str]) -> Any:
        if shown == ["wrong"]:
            inside.append(1)
            assert lock.wait(120)
        return look_up(shown)

    monkeypatch.setattr(ledger, "rights", held)
    granted, answers = while_held(
        ledger,
        made,
        lambda http: http.get(f"/campaigns/{NAME}", headers=bearer("wrong")),
        lambda: len(inside) == 1,  # the worker has asked, too
        lock.set,
    )
    assert len(granted.json()["leases"]) == 1
    assert {answer.status_code for answer in answers} == {403}


@pytest.mark.parametrize("path", ["status", ""])
def test_workers_do_not_wait_for_what_readers_ask(
    campaigns: tuple[Ledger, list[Campaign]], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Nor is it asked from the ledger more than once at a time, however many want it."""
    ledger, made = campaigns
    lock, inside = threading.Event(), list[int]()
    method = "overview" if path else "standing"
    asked = getattr(ReaderCampaign, method)

    def held(self: ReaderCampaign, *arguments: Any, **options: Any) -> Any:
        inside.append(1)
        assert lock.wait(120)
        return asked(self, *arguments, **options)

    monkeypatch.setattr(ReaderCampaign, method, held)
    token = made[0].operator.new_token(Role.READER)
    url = f"/campaigns/{NAME}/{path}".rstrip("/")
    granted, answers = while_held(
        ledger,
        made,
        lambda http: http.get(url, headers=bearer(token)),
        lambda: len(inside) == 1,
        lock.set,
    )
    assert len(granted.json()["leases"]) == 1
    assert {answer.status_code for answer in answers} == {200}
    assert len(inside) == 1


# -- bodies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [b"[" + b"[]," * 1_000_000 + b"[]]", b"[" * 4_000_000, b"[" + b"0," * 2_000_000])
@pytest.mark.parametrize("path", ["results", "leases"])
def test_large_bodies_of_nothing_are_not_parsed(
    campaigns: tuple[Ledger, list[Campaign]], monkeypatch: pytest.MonkeyPatch, path: str, body: bytes
) -> None:
    ledger, made = campaigns
    monkeypatch.setattr(bodies, "decoded", lambda body, kind: pytest.fail("it is parsed"))
    with serving(ledger, made) as client:
        answer = client.post(
            f"/campaigns/{NAME}/{path}", content=body, headers=bearer(made[0].operator.new_token(Role.WORKER))
        )
    assert (answer.status_code, "send less at a time" in answer.json()["error"]) == (400, True)


@pytest.mark.parametrize(
    ("path", "size"),
    [("workers", 2**22), ("departures", 2**16), ("renewals", 2**19), ("ends", 2**19), ("results", 2**22)],
)
def test_each_route_has_its_largest_body(campaigns: tuple[Ledger, list[Campaign]], path: str, size: int) -> None:
    ledger, made = campaigns
    token = made[0].operator.new_token(Role.WORKER)
    with serving(ledger, made) as client:
        for more, status in ((0, 400), (1, 413)):
            body = b'"' + b"x" * (size - 2 + more) + b'"'
            answer = client.post(f"/campaigns/{NAME}/{path}", content=body, headers=bearer(token))
            assert answer.status_code == status
    assert f"{size:,} bytes" in answer.json()["error"]


def test_the_largest_messages_of_workers_are_taken(campaigns: tuple[Ledger, list[Campaign]]) -> None:
    """A thousand results whose provenance is as long as it may be, and as many attempts as a worker may hold."""
    ledger, made = campaigns
    token = made[0].operator.new_token(Role.WORKER)
    provenance = json.dumps({f"field {place}": ["{", "}"] for place in range(12)}).ljust(3_900)
    result = {"attempt": 1, "nonce": "x" * 64, "index": 0, "value": "1", "residue": "1", "evaluated": "1"}
    delivery = {**result, "seconds": 1.0, "provenance": provenance, "began": None}
    held = [10**9 + place for place in range(100_000)]
    lease = {"campaign": made[0].uuid, "worker": "w", "count": 1, "seconds": 1, "held": held, "copies": 0}
    with serving(ledger, made) as client:
        path, headers = f"/campaigns/{NAME}", bearer(token)
        answer = client.post(f"{path}/results", json={"deliveries": [delivery] * 1_000, "now": 0}, headers=headers)
        assert len(answer.json()["receipts"]) == 1_000
        assert client.post(f"{path}/leases", json=lease, headers=headers).status_code == 409


# -- a real server --------------------------------------------------------------------------------


def answers(connection: socket.socket, number: int) -> list[bytes]:
    """The status lines of so many answers, whose bodies hold none."""
    received = b""
    while len(found := re.findall(rb"HTTP/1\.1 \d{3}", received)) < number:
        chunk = connection.recv(65_536)
        assert chunk, received
        received += chunk
    return found


def request(method: str, path: str, *headers: str, body: str = "") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: x", *headers, "", body]).encode()


def test_requests_sent_ahead_are_all_answered_in_order(server_of_all: Farm) -> None:
    token = f"Content-Type: application/json\r\nAuthorization: Bearer {server_of_all.token}"
    path = f"/campaigns/{FARMED}"
    body = "{}"
    stranger = [
        request("GET", "/-/nothing"),
        request("GET", path),
        request("GET", "/-/icon.svg", f"X: {'x' * 700}"),
    ]
    worker = [
        request("POST", f"{path}/leases", token, f"Content-Length: {len(body)}", body=body),
        request("GET", path, token),
    ]
    with socket.create_connection(("127.0.0.1", server_of_all.port), 60) as connection:
        connection.sendall(b"".join(stranger * 20))
        assert answers(connection, 60) == [b"HTTP/1.1 404", b"HTTP/1.1 401", b"HTTP/1.1 200"] * 20
        connection.sendall(b"".join(worker * 20))
        assert answers(connection, 40) == [b"HTTP/1.1 400", b"HTTP/1.1 200"] * 20
        connection.sendall(b"".join([*stranger, *worker] * 10))
        assert len(answers(connection, 50)) == 50


@pytest.mark.parametrize("chunked", [False, True])
def test_the_first_request_of_a_connection_may_be_large(server_of_all: Farm, chunked: bool) -> None:
    """As after a restart of the server: results that waited."""
    content = json.dumps({"deliveries": [], "now": 0, "more": "x" * 3_000_000}).encode()
    body: Any = iter([content[:1_000_000], content[1_000_000:]]) if chunked else content
    url = f"http://127.0.0.1:{server_of_all.port}/campaigns/{FARMED}/results"
    answer = httpx.post(url, content=body, headers=bearer(server_of_all.token), timeout=60)
    assert (answer.status_code, answer.json()) == (200, {"receipts": []})


def test_bodies_that_lack_a_byte_fill_no_memory(farm: Farm) -> None:
    """Few are read: all of them are 192 MiB."""
    path, lacking = f"/campaigns/{FARMED}", 2**22 - 1
    server, most = psutil.Process(farm.server.pid), 0
    token = f"Authorization: Bearer {farm.token}"
    head = request("POST", f"{path}/results", token, "Content-Type: application/json", f"Content-Length: {2**22}")
    with contextlib.ExitStack() as held, selectors.DefaultSelector() as ready:
        left = {}
        for _ in range(48):
            connection = held.enter_context(socket.create_connection(("127.0.0.1", farm.port), 60))
            connection.sendall(request("GET", path, token))
            assert answers(connection, 1) == [b"HTTP/1.1 200"]
            connection.setblocking(False)
            ready.register(connection, selectors.EVENT_WRITE)
            left[connection] = memoryview(head + bytes(lacking))
        before = server.memory_info().rss
        while chosen := ready.select(2.0):  # until nothing more is taken
            for key, _ in chosen:
                connection = key.fileobj  # type: ignore[assignment]
                with contextlib.suppress(OSError):
                    left[connection] = left[connection][connection.send(left[connection][: 2**16]) :]
                    if left[connection]:
                        continue
                ready.unregister(connection)
            most = max(most, server.memory_info().rss)
        assert httpx.get(f"http://127.0.0.1:{farm.port}{path}", headers=bearer(farm.token), timeout=60)
    assert most - before < 64 * 2**20


def test_a_lack_of_files_is_one_line(farm: Farm) -> None:
    process = psutil.Process(farm.server.pid)
    known, page = httpx.Client(timeout=60), f"http://127.0.0.1:{farm.port}/-/icon.svg"
    assert known.get(page).status_code == 200  # it has set its own limit once it answers
    most = process.num_fds() + 3
    before = resource.prlimit(farm.server.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(farm.server.pid, resource.RLIMIT_NOFILE, (most, before[1]))
    with contextlib.ExitStack() as held:
        for _ in range(20):
            held.enter_context(socket.create_connection(("127.0.0.1", farm.port), 60))
        deadline = time.monotonic() + 60
        while process.num_fds() < most:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert known.get(page).status_code == 200  # it has tried to accept another one before
    resource.prlimit(farm.server.pid, resource.RLIMIT_NOFILE, before)
    farm.finish(farm.work())
    farm.server.terminate()
    _, log = farm.server.communicate(timeout=60)
    assert "Traceback" not in log
    assert log.count(f"(ulimit -n is {most})") == 1
