"""What asking again will not change ends a worker at once: one line, exit 2, before any work."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme

from jobs.reach.diagnosis import permanent
from jobs.reach.remote import RemoteServer
from jobs.reach.requests import ServerAway, ServerRefuses
from tests.support.campaigns import KEY, PLAN, TASKS
from tests.support.command_line import Run
from tests.support.databases import new_ledger
from tests.support.joins import join_file
from tests.support.ports import free_port
from tests.support.servers import Server

NAME = "langford-8-polyphase-4"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for localhost that nobody has signed, and its key."""
    return new_certificate(tmp_path_factory.mktemp("tls"))


def new_certificate(folder: Path) -> tuple[Path, Path]:
    key, made = folder / "server.key", folder / "server.pem"
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(made)]
    if subprocess.run([*request, *names], capture_output=True, check=False).returncode:
        pytest.skip("needs openssl")
    return made, key


@pytest.fixture
def folder(langford: Run, tmp_path: Path) -> Path:
    """That of a campaign."""
    assert langford("create", "langford", "8", "--depth", "4").returncode == 0
    return tmp_path


def refused(langford: Run, tmp_path: Path, url: str, says: str, certificate: Path | None = None) -> None:
    """A worker for this address ends with exit code 2 and one line, and its token is not in it."""
    done = langford("work", join_file(tmp_path, url, "a-secret-token", certificate), "--outbox", "outbox")
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "secret" not in done.stderr
    assert not list((tmp_path / "outbox").iterdir())


def test_permanent_errors_of_a_server_without_tls(langford: Run, folder: Path) -> None:
    with Server(folder, NAME) as server:
        unknown = "no campaign here has this name and this token: check both, and whether the token has expired"
        refused(langford, folder, f"https://localhost:{server.port}/{NAME}", "write http://")
        refused(langford, folder, f"http://localhost:{server.port}/{NAME}", unknown)
        refused(langford, folder, f"http://localhost:{server.port}/another", unknown)
        again = langford("serve", NAME, "--port", str(server.port))
    assert (again.returncode, len(again.stderr.splitlines())) == (2, 1)
    assert "choose another --port" in again.stderr


@pytest.mark.exhaustive
def test_permanent_errors_of_a_server_with_tls(langford: Run, folder: Path, certificate: tuple[Path, Path]) -> None:
    made, key = certificate
    with Server(folder, NAME, "--certificate", str(made), "--key", str(key)) as server:
        url = f"https://localhost:{server.port}/{NAME}"
        refused(langford, folder, url.replace("https", "http"), "write https://")
        refused(langford, folder, url, "copy the server's join file again")
        other = url.replace("localhost", "127.0.0.1")
        refused(langford, folder, other, "use a host name that it contains", made)
        refused(langford, folder, url, "this name and this token", made)
        worked = langford("work", f"{NAME}.join", "--outbox", "outbox")
    assert worked.returncode == 0, worked.stderr
    assert langford("result", NAME).stdout.startswith("L(2,8) = 150\n")


def test_a_server_whose_plan_has_other_tasks_refuses(langford: Run, tmp_path: Path) -> None:
    """So do workers, of a server of another version: see ``test_task_source``."""
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        ledger.create_campaign("short", KEY, PLAN.work.tolist()[:-1])
    refused = langford("serve", "short", "--port", str(free_port()))
    assert refused.returncode == 2
    assert f"was split into {TASKS - 1} tasks" in refused.stderr
    assert f"into {TASKS}" in refused.stderr


@pytest.mark.parametrize(
    "proxy", ["http://[::1", "ftp://user:secret@proxy", "socks5://proxy:1080", "http://proxy:x"]
)
def test_proxies_that_cannot_be(langford: Run, proxy: str, tmp_path: Path) -> None:
    join = join_file(tmp_path, f"https://farm.invalid/{NAME}", "a-secret-token")
    done = langford("work", join, "--outbox", "outbox", "--time-limit", "5", variables={"ALL_PROXY": proxy})
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("langford: cannot use the proxies of the environment")
    assert len(done.stderr.splitlines()) == 1
    assert "secret" not in done.stderr


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("NO_PROXY", "[::1]", "cannot use the proxies of the environment, NO_PROXY (no such proxy)"),
        (
            "SSLKEYLOGFILE",
            "absent/keys",
            "TLS cannot use a file (No such file or directory): correct or unset SSLK",
        ),
    ],
)
def test_the_variable_that_fails_is_named(
    langford: Run, tmp_path: Path, variable: str, value: str, said: str
) -> None:
    join = join_file(tmp_path, f"https://farm.invalid/{NAME}", "a-secret-token")
    done = langford("work", join, "--outbox", "outbox", "--time-limit", "5", variables={variable: value})
    assert done.returncode == 2
    assert done.stderr.startswith(f"langford: {said}")
    assert len(done.stderr.splitlines()) == 1


class Closed(BaseHTTPRequestHandler):
    """A proxy that requires a password."""

    def do_GET(self) -> None:
        self.send_response(407)
        self.end_headers()

    def do_CONNECT(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing."""


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_requires_a_password_is_named(
    langford: Run, scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Closed) as closed:
        threading.Thread(target=closed.serve_forever, daemon=True).start()
        proxy = f"127.0.0.1:{closed.server_port}"
        join = join_file(tmp_path, f"{scheme}://farm.invalid/{NAME}", "a-secret-token")
        done = langford(
            "work", join, "--outbox", "outbox", variables={f"{scheme}_proxy": f"http://me:secret@{proxy}"}
        )
        closed.shutdown()
    assert done.returncode == 2, done.stderr
    [said] = done.stderr.splitlines()
    assert f"the proxy {proxy} of the environment requires a password (HTTP status 407)" in said
    assert "secret" not in said
    monkeypatch.setenv(f"{scheme}_proxy", f"http://me:secret@{proxy}")
    server = RemoteServer(f"{scheme}://farm.invalid/{NAME}", "token").campaign()
    with pytest.raises(ServerAway, match=rf"through {proxy}, the proxy of the environment \(.*refused"):
        server.info()  # the proxy has ended
    server.close()


def test_which_errors_are_permanent() -> None:
    port = free_port()
    unknown = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    assert "there is no host farm" in str(permanent(unknown, "http", "farm", port))
    assert "no host squid, the proxy of the env" in str(permanent(unknown, "http", "farm", port, "squid:3128"))
    for passing in (
        socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"),
        ConnectionRefusedError(),
        TimeoutError(),
    ):
        for scheme in ("http", "https"):
            assert permanent(passing, scheme, "127.0.0.1", port) is None
    # The server went away while the worker shook hands with it.
    assert permanent(ssl.SSLEOFError(), "https", "127.0.0.1", port) is None


def test_a_server_that_answered_once_is_only_away() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")

        thread = threading.Thread(target=answer)
        thread.start()
        server = RemoteServer(f"http://127.0.0.1:{port}/x", "token").campaign()
        with pytest.raises(ServerAway):
            server.info()
        thread.join()
    with pytest.raises(ServerAway):
        server.info()
    server.close()
    never = RemoteServer(f"http://127.0.0.1:{port}/x", "token").campaign()
    with pytest.raises(ServerAway):
        never.info()
    never.close()


class Busy(BaseHTTPRequestHandler):
    """A task server that is busy."""

    def do_GET(self) -> None:
        self.send_response(503)
        self.end_headers()
        self.wfile.write(b'{"error": "try again"}')

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def date_time_string(self, timestamp: int | None = None) -> str:
        return "Tue, 01 Feb 2022 03:04:05 GMT"

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing."""


@contextlib.contextmanager
def busy(certificate: tuple[Path, Path], port: int) -> Iterator[None]:
    """A busy server with TLS."""
    with ThreadingHTTPServer(("127.0.0.1", port), Busy) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


def test_a_renewed_certificate_is_read_again(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    file, port = tmp_path / "trusted.pem", free_port()
    file.write_bytes(certificate[0].read_bytes())
    client = RemoteServer(f"https://localhost:{port}/x", "token", file).campaign()
    with busy(certificate, port), pytest.raises(ServerAway, match="the server is busy"):
        client.info()
    renewed = new_certificate(tmp_path)
    with busy(renewed, port):
        for content in (file.read_bytes(), b"half a certif"):
            file.write_bytes(content)
            with pytest.raises(
                ServerAway, match=rf"is not trusted here \(it is self-signed.*\): copy it to {file}"
            ):
                client.info()
        file.write_bytes(renewed[0].read_bytes())
        with pytest.raises(ServerAway, match="not trusted here"):
            client.info()  # which reads it
        with pytest.raises(ServerAway, match="the server is busy"):
            client.info()
    client.close()


@contextlib.contextmanager
def busy_with(issued: trustme.LeafCert, folder: Path) -> Iterator[tuple[Path, int]]:
    """A busy server; yields the file with its certificate and chain, and its port."""
    file, port = folder / "server.pem", free_port()
    issued.private_key_and_cert_chain_pem.write_to_path(str(file))
    file.chmod(0o600)
    with busy((file, file), port):
        yield file, port


@pytest.mark.parametrize("given", ["root", "intermediate", "chain", "leaf"])
def test_a_private_authority_is_trusted_by_any_certificate_of_its_chain(given: str, tmp_path: Path) -> None:
    root = trustme.CA()
    middle = root.create_child_ca()
    issued = middle.issue_cert("localhost")
    leaf, *others = issued.cert_chain_pems
    pems = {"root": [root.cert_pem], "intermediate": [middle.cert_pem], "chain": [leaf, *others], "leaf": [leaf]}
    file = tmp_path / "trusted.pem"
    file.write_bytes(b"".join(pem.bytes() for pem in pems[given]))
    with busy_with(issued, tmp_path) as (_, port):
        client = RemoteServer(f"https://localhost:{port}/x", "token", file).campaign()
        with pytest.raises(ServerAway, match="the server is busy"):
            client.info()
        client.close()
        stranger = RemoteServer(f"https://localhost:{port}/x", "token").campaign()
        with pytest.raises(
            ServerRefuses,
            match=r"no certificate that links it to one trusted here.*copy the server's join file again",
        ):
            stranger.info()
        stranger.close()


LATER, BEFORE = datetime(2999, 1, 1, tzinfo=UTC), datetime(2001, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("dates", "says", "refusal"),
    [
        ({"not_before": BEFORE, "not_after": BEFORE + timedelta(1)}, "it has expired", "expired at 2001-01-02T"),
        (
            {"not_before": LATER, "not_after": LATER + timedelta(1)},
            "it is not valid yet",
            "valid before 2999-01-01T",
        ),
    ],
)
def test_a_certificate_that_is_not_valid_now_is_not_served_and_not_advised(
    langford: Run, folder: Path, dates: dict[str, datetime], says: str, refusal: str
) -> None:
    authority = trustme.CA()
    trusted = folder / "authority.pem"
    authority.cert_pem.write_to_path(str(trusted))
    with busy_with(authority.issue_cert("localhost", **dates), folder) as (file, port):
        client = RemoteServer(f"https://localhost:{port}/x", "token", trusted).campaign()
        both_clocks = rf"\({says}; it is {time.strftime('%Y-%m-%dT%H:', time.gmtime())}\S+ here and "
        with pytest.raises(ServerRefuses, match=rf"{both_clocks}2022-02-01T03:04:05Z there\)") as refused:
            client.info()
        client.close()
        assert "--certificate" not in str(refused.value)
    served = langford("serve", NAME, "--port", str(free_port()), "--certificate", str(file))
    assert served.returncode == 2
    assert f"the certificate {file} " in served.stderr
    assert refusal in served.stderr


def test_a_private_key_that_others_can_read_is_refused(
    langford: Run, folder: Path, certificate: tuple[Path, Path]
) -> None:
    made, key = (folder / file.name for file in certificate)
    for file, copy in zip(certificate, (made, key), strict=True):
        copy.write_bytes(file.read_bytes())
    key.chmod(0o644)
    serve = ["serve", NAME, "--port", str(free_port()), "--certificate", str(made), "--key", str(key)]
    refused = langford(*serve)
    assert refused.returncode == 2
    assert f"others on this machine can read the private key in {key}: chmod 600 {key}; if" in refused.stderr


def test_a_host_that_does_not_exist_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*arguments: object, **options: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    server = RemoteServer("https://farm:8765/x", "token").campaign()
    with pytest.raises(ServerRefuses, match="there is no host farm"):
        server.info()
    server.close()


def test_a_server_that_sends_no_intermediate_certificate_is_told_so(tmp_path: Path) -> None:
    root = trustme.CA()
    middle = root.create_child_ca()
    issued = middle.issue_cert("localhost")
    alone, file, port = tmp_path / "server.pem", tmp_path / "trusted.pem", free_port()
    alone.write_bytes(issued.private_key_pem.bytes() + issued.cert_chain_pems[0].bytes())
    alone.chmod(0o600)
    file.write_bytes(root.cert_pem.bytes())
    server = RemoteServer(f"https://localhost:{port}/x", "token", file)
    with busy((alone, alone), port):
        with pytest.raises(ServerRefuses, match="or let the server send its intermediate certificates too"):
            server.campaign().info()
        file.write_bytes(middle.cert_pem.bytes())
        with pytest.raises(ServerAway, match="the server is busy"):
            RemoteServer(f"https://localhost:{port}/x", "token", file).campaign().info()
