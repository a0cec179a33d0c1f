"""One file to join: what `langford serve` writes, at every name of a server, and what remains after a kill."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from jobs.addresses import is_this_machine
from jobs.farm import entrance as entrances
from jobs.farm.certificate import own_certificate
from jobs.farm.entrance import OWN_CERTIFICATE, Entrance, entrance, names_of_this_machine
from jobs.reach.join import HEADING, Join, NotAJoinFile, reached
from langford.cli.campaigns.tokens import worker_joins
from langford.errors import BadInput
from tests.support.campaigns import NAME, new_campaign
from tests.support.command_line import Run
from tests.support.databases import new_ledger
from tests.support.servers import Server

TEXT = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=60)


@given(st.lists(TEXT.map(lambda name: f"https://farm/{name}"), min_size=1, max_size=4), TEXT, st.booleans())
def test_a_join_file_says_what_was_written(addresses: list[str], token: str, trusts: bool) -> None:
    join = Join(addresses, token, trustme_certificate() if trusts else "")
    file = Path(os.environ["PYTEST_TMP"]) / "a.join"
    join.write(file)
    assert Join.read(file) == join
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_TMP", str(tmp_path))


_certificates: list[str] = []


def trustme_certificate() -> str:
    """One certificate, made once."""
    if not _certificates:
        _certificates.append(trustme.CA().cert_pem.bytes().decode())
    return _certificates[0]


# -- which address, which certificate ---------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "reached_as", "expected"),
    [
        ("127.0.0.1", [], ["http://127.0.0.1:{port}"]),
        ("::1", [], ["http://[::1]:{port}"]),
        ("localhost", [], ["http://localhost:{port}"]),
        ("0.0.0.0", [], ["https://farm.example:{port}", "https://10.1.2.3:{port}"]),
        ("0.0.0.0", ["login1"], ["https://login1:{port}"]),
        ("127.0.0.1", ["https://proxy.example/farm/"], ["https://proxy.example/farm"]),
    ],
)
def test_no_address_is_one_that_nobody_reaches(
    host: str, reached_as: list[str], expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entrances, "names_of_this_machine", lambda: ["farm.example", "10.1.2.3"])
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listener:
        found = entrance(listener, host, reached_as, None, False, tmp_path)
        port = listener.getsockname()[1]
    assert found.addresses == [address.format(port=port) for address in expected]
    is_private = host == "0.0.0.0"
    assert (found.certificate is not None, bool(found.trusted)) == (is_private, is_private)


@pytest.mark.parametrize(
    ("names", "host", "expected"),
    [
        (["localhost", "farm.example"], "127.0.0.1", ["localhost"]),
        (["localhost", "farm.example", "*.example"], "0.0.0.0", ["farm.example"]),
        (["farm.example"], "127.0.0.1", ["farm.example"]),
        (["10.1.2.3"], "0.0.0.0", ["10.1.2.3"]),
    ],
)
def test_a_server_is_reached_under_a_name_of_its_certificate(
    names: list[str], host: str, expected: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "server.pem"
    trustme.CA().issue_cert(*names).private_key_and_cert_chain_pem.write_to_path(str(file))
    with socket.create_server((host, 0)) as listener:
        found = entrance(listener, host, [], file, False, tmp_path)
        port = listener.getsockname()[1]
    assert found.addresses == [f"https://{name}:{port}" for name in expected]
    assert found.trusted.count("BEGIN") == 1
    assert "KEY" not in found.trusted


def test_the_names_of_this_machine_lead_to_it_from_others(monkeypatch: pytest.MonkeyPatch) -> None:
    assert names_of_this_machine() == ["localhost"] or not any(map(is_this_machine, names_of_this_machine()))
    for function in ("getfqdn", "gethostname"):
        monkeypatch.setattr(socket, function, lambda: "localhost")
    assert names_of_this_machine() == ["localhost"]


# -- killed at any place ----------------------------------------------------------------------


def trusts(authority: str, file: Path, name: str) -> bool:
    """Whether who trusts an authority trusts the server that uses a file, by a handshake in memory."""
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context(cadata=authority)
    server.load_cert_chain(file)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=name),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(4):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLError:
                return False
    return True


def test_a_certificate_keeps_its_authority_whatever_was_cut(tmp_path: Path) -> None:
    file = tmp_path / OWN_CERTIFICATE
    first = own_certificate(file, ["farm", "10.1.2.3"])
    whole = file.read_bytes()
    assert own_certificate(file, ["another"]) == first
    assert trusts(first, file, "another")
    assert not trusts(first, file, "farm")
    assert file.stat().st_mode & 0o777 == 0o600
    for length in range(0, len(whole), 97):
        file.write_bytes(whole[:length])
        made = own_certificate(file, ["farm"])
        assert made != first
        assert trusts(made, file, "farm")
        assert not trusts(first, file, "farm")
    for foreign in (b"my thesis\n", b"-----BEGIN PRIVATE KEY-----\n"):
        file.write_bytes(foreign)
        with pytest.raises(BadInput, match="move it to another name"):
            own_certificate(file, ["farm"])
        assert file.read_bytes() == foreign


def test_a_server_that_is_started_again_keeps_the_token_whatever_was_cut(tmp_path: Path) -> None:
    file, at = tmp_path / "a.join", Entrance(["https://farm:1"], None, trustme_certificate())
    with new_ledger("sqlite", tmp_path) as ledger:
        campaign = new_campaign(ledger)
        with worker_joins(campaign, file, at):
            whole, token = file.read_bytes(), Join.read(file).token
        with worker_joins(campaign, file, Entrance(["https://farm:2"], None, "")):
            assert Join.read(file) == Join([f"https://farm:2/{NAME}"], token)
        for length in range(0, whole.index(token.encode()) + 1, 7):
            file.write_bytes(whole[:length])
            if length:
                with pytest.raises(NotAJoinFile):
                    Join.read(file)
            with worker_joins(campaign, file, at):
                made = Join.read(file).token
            assert made != token
            assert {right.token for right in ledger.rights([token, made])} == {token, made}
        for foreign in (b"my thesis\n", HEADING.encode().replace(b"1", b"2") + b"\n"):
            file.write_bytes(foreign)
            with pytest.raises(BadInput, match="is not replaced"), worker_joins(campaign, file, at):
                pass
            assert file.read_bytes() == foreign
        before = len(campaign.operator.tokens())
        with pytest.raises(OSError, match="No such file"), worker_joins(campaign, tmp_path / "no" / "f", at):
            pass
        assert len(campaign.operator.tokens()) == before  # the one that nobody received is revoked


# -- real servers and workers -----------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])
def test_a_worker_joins_by_the_file_alone(langford: Run, tmp_path: Path, host: str) -> None:
    assert langford("create", "langford", "8", "--name", "eight").returncode == 0
    with Server(tmp_path, "eight", "--host", host) as server:
        join = Join.read(tmp_path / "eight.join")
        assert f"listening on {join.addresses[0].rpartition('/')[0]} for eight" in server.log
        assert bool(join.certificates) == (host == "0.0.0.0")
        assert langford("status", "eight.join").stdout.startswith("eight: L(2,8)")
        done = langford("work", variables={"LANGFORD_JOIN": str(tmp_path / "eight.join")})
        assert done.returncode == 0, done.stderr
    assert "L(2,8) = 150" in langford("result", "eight").stdout


def test_a_second_site_joins_with_a_token_of_its_own(langford: Run, tmp_path: Path) -> None:
    assert langford("create", "langford", "8", "--name", "eight").returncode == 0
    with Server(tmp_path, "eight"):
        made = langford("token", "eight", "--join", "eight.join", "--out", "site-b.join", "--label", "b")
        assert made.returncode == 0, made.stderr
        first, second = Join.read(tmp_path / "eight.join"), Join.read(tmp_path / "site-b.join")
        assert first.addresses == second.addresses
        assert first.token != second.token
        assert langford("work", "site-b.join").returncode == 0


def test_the_address_that_answers_is_used() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answers = f"http://127.0.0.1:{listener.getsockname()[1]}/eight"
        silent = f"http://127.0.0.1:{port}/eight"
        assert reached([silent, answers]) == answers
    assert reached([silent, answers]) == silent  # whichever: none answers, and one may later


def test_openssl_reads_the_certificate_out_of_a_join_file(tmp_path: Path) -> None:
    file = tmp_path / "a.join"
    Join(["https://farm/x"], "token", trustme_certificate()).write(file)
    ssl.create_default_context(cafile=file)
    command = ["openssl", "x509", "-in", str(file), "-noout"]
    if subprocess.run(["openssl", "version"], capture_output=True, check=False).returncode == 0:
        assert subprocess.run(command, check=False).returncode == 0
