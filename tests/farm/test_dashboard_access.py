"""The pages of the dashboard without a browser: who gets in, what the cookie opens, and what is kept from whom."""

from __future__ import annotations

import logging
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from db import Campaign
from db.states import Role
from jobs.farm.api import server
from jobs.farm.api.clients import Clients
from jobs.farm.dashboard.pages import FOLDER
from jobs.farm.guard.bounds import SESSION_SECONDS
from jobs.farm.guard.sessions import Sessions
from tests.support.asgi import Client
from tests.support.campaigns import KEY, NAME, PLAN, new_campaign
from tests.support.clock import MovableClock
from tests.support.databases import new_ledger


class Watcher:
    """A client of a server of two campaigns, and a token of each for it."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.ledger = new_ledger("sqlite", folder)
        self.campaigns = [new_campaign(self.ledger), self.second()]
        self.tokens = [campaign.operator.new_token(Role.READER) for campaign in self.campaigns]
        names = [campaign.name for campaign in self.campaigns]
        self.application = server.application(self.ledger, names, Clients(**options))
        self.client = Client(self.application)

    def second(self) -> Campaign:
        return self.ledger.create_campaign("second", KEY, PLAN.work.tolist())

    def log_in(self, token: str, campaign: str = "", **headers: str) -> httpx.Response:
        return self.client.post("/-/log-in", data={"token": token, "campaign": campaign}, headers=headers)

    def another(self) -> Client:
        """A client of the same server, with cookies of its own."""
        return Client(self.application)

    def close(self) -> None:
        self.client.close()
        self.ledger.close()


@pytest.fixture
def watcher(tmp_path: Path) -> Iterator[Watcher]:
    with closing(Watcher(tmp_path)) as made:
        yield made


def shows_form(answer: httpx.Response) -> bool:
    return 'name="token"' in answer.text and 'id="campaigns"' not in answer.text


def test_a_stranger_gets_the_form_and_nothing_else(watcher: Watcher) -> None:
    for path in ("/", f"/{NAME}/", "/absent/"):
        answer = watcher.client.get(path)
        assert (answer.status_code, shows_form(answer)) == (200, True)
        assert "second" not in answer.text
    assert watcher.client.get(f"/{NAME}/").text.replace(NAME, "X") == watcher.client.get("/absent/").text.replace(
        "absent", "X"
    )
    assert watcher.client.get("/campaigns").status_code == 401
    assert watcher.client.get(f"/campaigns/{NAME}/status").status_code == 401


def test_the_cookie_and_what_it_opens(watcher: Watcher) -> None:
    answer = watcher.log_in(watcher.tokens[0])
    assert (answer.status_code, answer.headers["location"]) == (303, f"../{NAME}/")
    cookie = answer.headers["set-cookie"]
    assert re.search(r"; HttpOnly(;|$)", cookie)
    assert re.search(r"; SameSite=strict(;|$)", cookie)
    assert re.search(r"; Path=/(;|$)", cookie)
    assert "Secure" not in cookie
    assert "Domain" not in cookie
    client = watcher.client
    assert not shows_form(client.get("/"))
    assert not shows_form(client.get(f"/{NAME}/"))
    assert shows_form(client.get("/second/"))
    assert [one["campaign"] for one in client.get("/campaigns").json()] == [NAME]
    assert client.get(f"/campaigns/{NAME}/status").json()["campaign"] == NAME
    assert client.get("/campaigns/second/status").status_code == 403
    watcher.log_in(watcher.tokens[1])
    assert [one["campaign"] for one in client.get("/campaigns").json()] == [NAME, "second"]
    assert client.get(f"/campaigns/{NAME}/status").status_code == 200


def test_a_cookie_changes_nothing(watcher: Watcher) -> None:
    """Whatever its tokens could do in a header: what another site makes the browser send must not."""
    watcher.log_in(watcher.campaigns[0].operator.new_token(Role.ADMIN))
    assert watcher.client.get(f"/campaigns/{NAME}/status").status_code == 200
    for path in ("retries", "leases", "workers", "results"):
        assert watcher.client.post(f"/campaigns/{NAME}/{path}", json={}).status_code == 401


def test_forms_of_other_sites_are_refused(watcher: Watcher) -> None:
    token = watcher.tokens[0]
    for headers in (
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"origin": "https://elsewhere.example"},
        {"origin": "http://server:81"},
        {"origin": "null"},
    ):
        refused = watcher.log_in(token, **headers)
        assert (refused.status_code, "set-cookie" in refused.headers) == (403, False), headers
    for headers in ({"sec-fetch-site": "same-origin"}, {"origin": "http://server"}, {}):
        assert watcher.log_in(token, **headers).status_code == 303, headers
    assert watcher.client.post("/-/log-out", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert watcher.client.get("/campaigns").status_code == 200
    assert watcher.client.get("/-/log-out").status_code == 404
    assert watcher.client.post("/-/log-out").headers["location"] == "../"
    assert watcher.client.get("/campaigns").status_code == 401


def test_wrong_tokens_and_names_open_nothing_and_lead_nowhere_else(watcher: Watcher) -> None:
    for token in ("wrong", "", "x" * 5_000, "a.b", "\x00", "é", "a b", "%0d%0aSet-Cookie: x=y"):
        answer = watcher.log_in(token, NAME)
        assert answer.status_code == (413 if len(token) > 4_096 else 403)
        assert "set-cookie" not in answer.headers
        if answer.status_code == 403:
            assert shows_form(answer)
            assert "No campaign here accepts this token" in answer.text
            assert f'value="{NAME}"' in answer.text
        assert len(token) <= 3 or token not in answer.text
    for campaign in ("//evil.example", "https://evil.example/", "../..", '"><script>', "-", "absent"):
        answer = watcher.log_in(watcher.tokens[0], campaign)
        assert answer.headers["location"] == f"../{NAME}/"
        watcher.client.post("/-/log-out")
        refused = watcher.log_in("wrong", campaign)
        assert campaign not in refused.text or campaign in ("absent", "-", "../..")


def test_other_paths_are_no_pages(watcher: Watcher) -> None:
    for path in ("/-/nothing.js", "/-/", "/-/%2e%2e/pages.py", "/-x/", "/a/b/", "/a/b"):
        assert watcher.client.get(path).status_code == 404, path


def test_the_address_for_workers_leads_to_the_page(watcher: Watcher) -> None:
    for name in (NAME, "absent"):
        answer = watcher.client.get(f"/{name}")
        assert (answer.status_code, answer.headers["location"]) == (303, f"{name}/")


def test_every_page_has_the_policy(watcher: Watcher) -> None:
    watcher.log_in(watcher.tokens[0])
    paths = ["/", f"/{NAME}/", "/second/", f"/{NAME}", "/-/dashboard.css", "/-/absent"]
    for path in paths:
        answer = watcher.client.get(path)
        policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'", path
        assert policy["script-src"] == policy["style-src"] == "'self'"
        assert policy["frame-ancestors"] == "'none'"
        assert "unsafe" not in str(policy)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_pages_are_not_kept(watcher: Watcher) -> None:
    assert watcher.client.get("/").headers["cache-control"] == "no-store"
    watcher.log_in(watcher.tokens[0])
    assert watcher.client.get(f"/campaigns/{NAME}/status").headers["cache-control"] == "no-store"
    assert watcher.client.get("/-/dashboard.css").headers["cache-control"] == "no-cache"


def test_a_token_that_ends(watcher: Watcher) -> None:
    watcher.log_in(watcher.tokens[0])
    watcher.campaigns[0].operator.revoke()
    assert watcher.client.get("/campaigns").status_code == 403
    answer = watcher.client.get("/")
    assert shows_form(answer)
    assert "is no longer valid" in answer.text
    assert watcher.client.get("/campaigns").status_code == 401, "the browser forgets the cookie"


def copied(answer: httpx.Response) -> dict[str, str]:
    """The header of a thief who has copied the cookie that an answer sets."""
    return {"cookie": answer.headers["set-cookie"].split(";")[0]}


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (lambda watcher: watcher.client.post("/-/log-out"), 401),
        (lambda watcher: watcher.log_in(watcher.tokens[1]), 401),
        (lambda watcher: watcher.campaigns[0].operator.revoke(watcher.tokens[0]), 403),
    ],
    ids=["log out", "another log in", "a revoked token"],
)
def test_a_copied_cookie_opens_nothing_after(
    watcher: Watcher, end: Callable[[Watcher], object], status: int
) -> None:
    answer = watcher.log_in(watcher.tokens[0])
    assert watcher.tokens[0] not in answer.headers["set-cookie"]
    with closing(watcher.another()) as thief:
        assert thief.get("/campaigns", headers=copied(answer)).status_code == 200
        end(watcher)
        assert thief.get("/campaigns", headers=copied(answer)).status_code == status
        assert shows_form(thief.get(f"/{NAME}/", headers=copied(answer)))


def test_a_restart_of_the_server_ends_sessions(watcher: Watcher) -> None:
    answer = watcher.log_in(watcher.tokens[0])
    with closing(Client(server.application(watcher.ledger, [NAME]))) as restarted:
        assert restarted.get("/campaigns", headers=copied(answer)).status_code == 401
        assert restarted.post("/-/log-in", data={"token": watcher.tokens[0]}).status_code == 303


def test_a_session_ends_after_twelve_hours(tmp_path: Path) -> None:
    clock = MovableClock()
    with closing(Watcher(tmp_path, sessions=Sessions(clock=clock))) as watcher:
        shown = copied(watcher.log_in(watcher.tokens[0]))
        with closing(watcher.another()) as thief:
            clock.move(SESSION_SECONDS - 1)
            assert thief.get("/campaigns", headers=shown).status_code == 200
            clock.move(1)
            assert thief.get("/campaigns", headers=shown).status_code == 401
    assert SESSION_SECONDS == 12 * 3_600


def test_sessions_are_few_and_the_oldest_end() -> None:
    sessions = Sessions(most=4, of_a_token=2)
    honest, *_, second, third = [sessions.begin([token]) for token in ("honest", "liar", "liar", "liar")]
    assert sessions.tokens(honest) == ["honest"], "one token ends sessions of its own"
    assert sessions.tokens(second) == sessions.tokens(third) == ["liar"]
    others = [sessions.begin([token]) for token in ("a", "b")]
    assert sessions.tokens(honest) == []
    assert [sessions.tokens(one) for one in (second, third, *others)] == [["liar"], ["liar"], ["a"], ["b"]]


def test_who_is_no_proxy_does_not_say_that_the_way_is_encrypted(watcher: Watcher) -> None:
    cookie = watcher.log_in(watcher.tokens[0], **{"x-forwarded-proto": "https"}).headers["set-cookie"]
    assert ("; Secure" in cookie, cookie.startswith("__Host-")) == (False, False)


@pytest.mark.parametrize("together", [True, False], ids=["one line", "a line each"])
def test_only_what_the_proxy_adds_is_believed(
    tmp_path: Path, together: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """A client may invent entries; the proxy adds its own to their line, or on a line of its own."""

    def forwarded(name: str, invented: str, added: str) -> list[tuple[str, str]]:
        return [(name, f"{invented}, {added}")] if together else [(name, invented), (name, added)]

    def log_in(token: str, headers: list[tuple[str, str]]) -> httpx.Response:
        return watcher.client.post("/-/log-in", data={"token": token, "campaign": ""}, headers=headers)

    with closing(Watcher(tmp_path, proxies=["127.0.0.1"])) as watcher:
        assert log_in("wrong", forwarded("x-forwarded-for", "198.51.100.1", "192.0.2.7")).status_code == 403
        assert caplog.messages[-1].startswith("192.0.2.7: ")
        for invented, added, secure in (("https", "http", False), ("http", "https", True)):
            headers = [*forwarded("x-forwarded-proto", invented, added), ("x-forwarded-for", "192.0.2.2")]
            cookie = log_in(watcher.tokens[0], headers).headers["set-cookie"]
            assert ("; Secure" in cookie, cookie.startswith("__Host-")) == (secure, secure)


def test_a_server_with_tls_has_a_safe_cookie(watcher: Watcher) -> None:
    log_in = "https://server:8765/-/log-in"
    cookie = watcher.client.post(log_in, data={"token": watcher.tokens[0]}).headers["set-cookie"]
    assert cookie.startswith("__Host-langford-8765=")
    assert "; Secure" in cookie


def test_a_link_from_elsewhere_is_asked_again(watcher: Watcher) -> None:
    """The browser keeps a strict cookie back, and sends it when the page asks for itself."""
    bounced = watcher.client.get(f"/{NAME}/", headers={"sec-fetch-site": "cross-site"})
    assert 'http-equiv="refresh" content="0"' in bounced.text
    assert shows_form(watcher.client.get(f"/{NAME}/", headers={"sec-fetch-site": "same-origin"}))


def test_the_files_write_no_markup_and_ask_nobody_else() -> None:
    for path in (FOLDER / "static").glob("*.js"):
        text = path.read_text()
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", text), (
            path
        )
    for path in [*(FOLDER / "static").iterdir(), *(FOLDER / "templates").iterdir()]:
        addresses = set(re.findall(r"https?://[^\s\"')]+", path.read_text()))
        assert addresses <= {"http://www.w3.org/2000/svg"}, path
        assert not re.search(r"<[^>]+ (style|on\w+)=|<style|<script(?! type=\"module\" src)", path.read_text()), (
            path
        )


def test_the_files_belong_to_the_package() -> None:
    """A wheel contains what its package data name."""
    settings = tomllib.loads((FOLDER.parents[2] / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["package-data"]["jobs.farm.dashboard"]
    files = [path for path in FOLDER.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")]
    assert {"static", "templates"} == {path.parent.name for path in files}
    assert [path for path in files if not any(path.match(pattern) for pattern in patterns)] == []


def test_a_log_in_is_logged_with_its_token_s_number(watcher: Watcher, caplog: pytest.LogCaptureFixture) -> None:
    campaign = watcher.campaigns[0]
    token = campaign.operator.new_token(Role.READER)
    with caplog.at_level(logging.INFO):
        assert watcher.log_in(token).status_code == 303
    number = campaign.operator.tokens()[-1].token_id
    said = [record.getMessage() for record in caplog.records]
    assert any(line.endswith(f": {campaign.name}: token {number} of role reader logs in") for line in said), said
    assert token not in "".join(said)
