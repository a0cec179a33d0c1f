"""Addresses of servers and databases: no password is printed, and a server may be under a path of a proxy."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.errors import LedgerUnusable
from db.store.addresses import url_of, without_password
from db.store.database import Database
from jobs.addresses import is_this_machine
from jobs.reach.diagnosis import proxy_of
from jobs.reach.requests import Requests
from langford.errors import BadInput
from tests.support.command_line import Run
from tests.support.joins import join_file
from tests.support.servers import Server

PLACES = [
    "postgresql://ada:{}@host/records",
    "postgres://ada:{}@host:5432/records?sslmode=require",
    "postgresql://:{}@host",
    "postgresql://host:5432/records?user=ada&password={}",
    "postgresql:/ada:{}@host/records",
    "ada:{}@host/records",
    "https://ada:{}@farm/twelve",
]
passwords = st.text(st.sampled_from("aZ:/@?#&=%[] ;'\"\\\n$é"), max_size=9).map(lambda text: f"QQ{text}QQ")
"""With all that separates the parts of an address, between letters that nothing else contains."""


@given(st.sampled_from(PLACES), passwords)
def test_no_part_of_a_password_is_printed(place: str, password: str) -> None:
    where = place.format(password)
    assert "Q" not in without_password(where)
    if place.startswith("https"):
        with pytest.raises(BadInput) as refused:
            Requests(where, "token")
        assert "Q" not in str(refused.value)


@pytest.mark.parametrize(
    "where",
    [
        "postgresql://ada:QQ@Q/Q@h.invalid/x",
        "postgresql://ada:Q@Q@h.invalid",
        "postgres:/ada:QQ@h/x",
        "ada:QQ@h/x",
        "ada:QQ@h",
    ],
)
def test_a_password_in_the_wrong_form_is_not_taken_for_a_host(where: str) -> None:
    with pytest.raises(LedgerUnusable) as refused:
        Database(where)
    assert "Q" not in str(refused.value)


def test_the_short_name_of_postgres_is_known() -> None:
    with pytest.raises(LedgerUnusable, match="cannot use the ledger") as refused:
        Database("postgres://ada@127.0.0.1:9/records")
    assert "is not a ledger" not in str(refused.value)


@given(passwords)
def test_the_password_of_a_proxy_is_not_printed(password: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("no_proxy", "")
        patched.setenv("https_proxy", f"http://ada:{password}@proxy:3128")
        assert proxy_of("https", "farm") == "proxy:3128"


@pytest.mark.parametrize("host", ["::ffff:127.0.0.1", "::1", "127.0.0.2", "ip6-localhost", "LOCALHOST"])
def test_names_of_this_machine(host: str) -> None:
    assert is_this_machine(host)
    assert not any(map(is_this_machine, ("::ffff:10.0.0.1", "localhost.example", "10.0.0.1")))


class Proxy(BaseHTTPRequestHandler):
    """Has a task server under /farm, answers /old with 301, and all else with a page."""

    port: int
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.path.startswith("/farm/"):
            with closing(HTTPConnection("127.0.0.1", self.port)) as server:
                kept = {name: value for name, value in self.headers.items() if name.lower() != "host"}
                server.request(self.command, self.path[len("/farm") :], body, kept)
                answer = server.getresponse()
                self._answer(answer.status, answer.read(), dict(answer.getheaders()))
        elif self.path.startswith("/old/"):
            self._answer(301, b"", {"Location": f"https://new.example{self.path[4:]}", "Content-Type": "text/html"})
        else:
            self._answer(404, b"<p>nothing here", {"Content-Type": "text/html"})

    do_POST = do_GET  # noqa: N815

    def _answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def proxy_before(server: Server) -> Iterator[str]:
    """Its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Before", (Proxy,), {"port": server.port})) as proxy:
        thread = threading.Thread(target=proxy.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{proxy.server_port}"
        proxy.shutdown()
        thread.join()


@pytest.mark.exhaustive
def test_a_server_under_a_path_of_a_proxy(langford: Run, tmp_path: Path) -> None:
    assert langford("create", "langford", "8", "--depth", "4", "--name", "eight").returncode == 0
    assert langford("token", "eight", "--out", "token").returncode == 0
    with Server(tmp_path, "eight") as server, proxy_before(server) as proxy:
        secret = (tmp_path / "token").read_text().strip()
        through, old, absent = (
            join_file(tmp_path, f"{proxy}/{path}", secret, name=f"{path.replace('/', '-')}.join")
            for path in ("farm/eight", "old/eight", "nine")
        )
        shown = langford("status", through)
        assert (shown.returncode, "eight" in shown.stdout) == (0, True), shown.stderr
        done = langford("work", through, "--outbox", "outbox")
        assert done.returncode == 0, done.stderr
        for command in (["status", old], ["work", old, "--outbox", "outbox"]):
            moved = langford(*command)
            assert moved.returncode == 2
            assert "has moved to https://new.example/campaigns/eight" in moved.stderr
        said = f"no task server answers at {proxy}/campaigns/nine, but HTTP status 404 with text/html"
        assert said in langford("status", absent).stderr
    assert "L(2,8) = 150" in langford("result", "eight").stdout


@pytest.mark.parametrize("where", [" postgresql://host/name", "l.db\r", "l.db\n"])
def test_a_blank_around_the_name_of_a_ledger_is_no_part_of_it(where: str) -> None:
    with pytest.raises(LedgerUnusable, match="begins or ends with a blank or the end of a line"):
        url_of(where)


def test_a_scheme_in_capitals_is_one() -> None:
    assert url_of("POSTGRESQL://ada@host/Name") == url_of("postgresql://ada@host/Name")
