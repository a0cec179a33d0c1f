"""Passwords and tokens: who may see them, how long they open a campaign, and where they may travel."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from db import Ledger
from db.errors import BadName, LedgerUnusable, NoSuchCampaign
from db.identity import is_dead, process_name
from db.states import Role
from db.store.addresses import without_password
from db.work.tokens import digest
from jobs.farm.entrance import Entrance
from jobs.reach.join import Join
from langford.cli.campaigns.tokens import worker_joins
from langford.errors import BadInput
from langford.words import plain
from tests.support.campaigns import KEY, NAME, PLAN, new_campaign
from tests.support.clock import MovableClock
from tests.support.command_line import Run
from tests.support.database_clock import DAY, moved_clock
from tests.support.databases import fresh_database, new_ledger
from tests.support.joins import join_file

SECRET = "hunter2"
STRANGER = 54321
SECRET_URLS = [
    f"postgresql://ada:{SECRET}@nowhere.invalid/records",
    f"postgresql://ada:{SECRET}@127.0.0.1:1/records",
    f"postgresql://ada:a@{SECRET}@127.0.0.1:1/records",
    f"postgresql://ada:{SECRET}@host:port/records",
    f"postgresql+psycopg://ada:{SECRET}@127.0.0.1:1/records",
    f"postgresql://127.0.0.1:1/records?user=ada&password={SECRET}",
    f"mysql://ada:{SECRET}@host/records",
    f"nonsense://:{SECRET}@",
]


@pytest.fixture
def campaign_file(tmp_path: Path) -> Path:
    file = tmp_path / "langford.db"
    with Ledger(str(file), create=True) as ledger:
        new_campaign(ledger)
    return file


# -- passwords --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "command"),
    [
        *((url, ["status"]) for url in SECRET_URLS),
        *((SECRET_URLS[1], words) for words in (["run", "langford", "7"], ["serve", NAME], ["ledger", "upgrade"])),
    ],
)
def test_no_message_shows_a_password(langford: Run, url: str, command: list[str]) -> None:
    done = langford(*command, "--ledger", url)
    assert done.returncode == 2, done.stderr
    assert SECRET not in done.stdout + done.stderr
    *warning, line = done.stderr.splitlines()
    assert "***" in line
    assert len(warning) == 1
    assert "~/.pgpass" in warning[0]
    assert "LANGFORD_LEDGER" in warning[0]


def test_an_inherited_address_and_one_without_a_password_are_not_warned_of(langford: Run) -> None:
    inherited = langford("status", variables={"LANGFORD_LEDGER": SECRET_URLS[0]})
    harmless = langford("status", "--ledger", "postgresql://ada@127.0.0.1:1/records")
    for done, hidden in ((inherited, True), (harmless, False)):
        assert (done.returncode, len(done.stderr.splitlines()), "***" in done.stderr) == (2, 1, hidden), done.stderr
        assert SECRET not in done.stderr


def message(connection: socket.socket) -> bytes:
    """The content of a message of a client of Postgres."""
    with connection.makefile("rb", buffering=0) as stream:
        return stream.read(int.from_bytes(stream.read(4), "big") - 4)


def test_a_password_in_a_file_reaches_the_database(langford: Run, tmp_path: Path) -> None:
    """A server that asks for it in clear text."""
    sent = list[bytes]()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def ask() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(60)
                while message(connection)[:4] != (3 << 16).to_bytes(4, "big"):  # it asks for TLS and the like
                    connection.sendall(b"N")
                connection.sendall(b"R" + (8).to_bytes(4, "big") + (3).to_bytes(4, "big"))
                assert connection.recv(1) == b"p"
                sent.append(message(connection))

        thread = threading.Thread(target=ask)
        thread.start()
        file = tmp_path / ".pgpass"
        file.touch(0o600)
        file.write_text(f"127.0.0.1:{port}:*:ada:{SECRET}\n")
        address = f"postgresql://ada@127.0.0.1:{port}/records"
        done = langford("status", variables={"HOME": str(tmp_path), "LANGFORD_LEDGER": address})
        thread.join()
    assert sent == [f"{SECRET}\0".encode()]
    assert done.returncode == 2
    assert SECRET not in done.stdout + done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_ledger_that_is_open_shows_no_password(tmp_path: Path) -> None:
    url = fresh_database("postgres", tmp_path).replace("postgres:@", f"postgres:{SECRET}@")
    assert SECRET in url
    with Ledger(url, create=True) as ledger:
        assert SECRET not in ledger.database.where
        assert "***" in ledger.database.where
        with pytest.raises(NoSuchCampaign) as raised:
            ledger.campaign("absent")
        assert SECRET not in str(raised.value)


def test_an_address_without_a_password_is_shown_as_it_is() -> None:
    for place in ("langford.db", "/home/ada@host/x.db", "postgresql://host/records", "sqlite:///x"):
        assert without_password(place) == place


def test_no_script_of_a_job_has_a_password(langford: Run, tmp_path: Path) -> None:
    url = fresh_database("postgres", tmp_path).replace("postgres:@", f"postgres:{SECRET}@")
    with Ledger(url, create=True) as ledger:
        new_campaign(ledger)
    job = ["slurm", "keep", NAME, "--time", "20:00", "--dry-run"]
    refused = langford(*job, "--ledger", url)
    assert refused.returncode == 2
    assert "LANGFORD_LEDGER" in refused.stderr
    assert ".pgpass" in refused.stderr
    assert SECRET not in refused.stdout + refused.stderr
    inherited = langford(*job, variables={"LANGFORD_LEDGER": url})
    assert inherited.returncode == 0, inherited.stderr
    assert SECRET not in inherited.stdout + inherited.stderr
    assert "--ledger" not in inherited.stdout
    reserved = langford("slurm", "reserve", "--time", "20:00", "--dry-run", "--", "langford", "9", "--ledger", url)
    assert reserved.returncode == 2
    assert SECRET not in reserved.stdout + reserved.stderr


# -- tokens -----------------------------------------------------------------------------------


def test_a_token_file_is_for_its_owner_only(langford: Run, campaign_file: Path, tmp_path: Path) -> None:
    os.umask(0o022)
    assert langford("token", NAME, "--out", "worker.token").returncode == 0  # an older one
    (tmp_path / "worker.token").chmod(0o666)
    made = langford("token", NAME, "--out", "worker.token")
    said = f"worker.token: a token for {NAME}, role worker, which only you may read\n"
    assert (made.returncode, made.stdout) == (0, said)
    file = tmp_path / "worker.token"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.glob("*token*")] == ["worker.token"]
    join = join_file(tmp_path, f"http://127.0.0.1:1/{NAME}", "token")
    for mode in (0o640, 0o604, 0o644, 0o660):
        Path(join).chmod(mode)
        for command in ("status", "work"):
            refused = langford(command, join)
            assert (refused.returncode, f"chmod 600 {join}" in refused.stderr) == (2, True)


def test_a_token_that_cannot_be_kept_is_revoked(langford: Run, campaign_file: Path) -> None:
    with Ledger(str(campaign_file)) as ledger:
        ledger.campaign(NAME).operator.new_token(Role.WORKER, label="another")
    refused = langford("token", NAME, "--out", "no/such/worker.token")
    assert (refused.returncode, "No such file" in refused.stderr) == (2, True)
    with Ledger(str(campaign_file)) as ledger:
        assert [token.label for token in ledger.campaign(NAME).operator.tokens()] == ["another"]


def test_tokens_are_listed_and_revoked_one_by_one(langford: Run, campaign_file: Path) -> None:
    tokens = [
        langford("token", NAME, *options).stdout.strip()
        for options in (
            ["--days", "0"],
            ["--role", "reader", "--label", "red \x1b[31m [/b]"],
            ["--role", "admin"],
        )
    ]
    listing = langford("token", NAME, "--list")
    assert len(listing.stdout.splitlines()) == 3
    assert "red \\x1b[31m [/b]" in listing.stdout
    records = json.loads(langford("token", NAME, "--list", "--json").stdout)
    assert [(record["token_id"], record["role"]) for record in records] == [
        (1, "worker"),
        (2, "reader"),
        (3, "admin"),
    ]
    assert records[0]["expires"] is None
    assert records[1]["expires"] == pytest.approx(time.time() + 30 * 86_400, abs=600)
    assert not any(token in listing.stdout for token in tokens)
    with Ledger(str(campaign_file)) as ledger:
        ledger.charge({digest(tokens[0]): 3.0})
    did = "0 workers, 0 leases (0 held), 0 results, 0 failures, 100% of the server's time (3 s)"
    assert [line for line in langford("token", NAME, "--list").stdout.splitlines() if "held" in line] == [
        f"      {did}"
    ]
    assert langford("token", NAME, "--revoke", "2").stdout == "1 token revoked\n"
    with Ledger(str(campaign_file)) as ledger:
        rights = {right.token: right.role for right in ledger.rights(tokens)}
        assert rights == {tokens[0]: Role.WORKER, tokens[2]: Role.ADMIN}
    for unknown in ("2", "x", "-1", "9" * 30, "٣"):
        refused = langford("token", NAME, "--revoke", unknown)
        assert refused.returncode == 2
    assert langford("token", NAME, "--revoke", "all").stdout == "2 tokens revoked\n"


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_token_expires_by_the_clock_of_the_ledger(kind: str, tmp_path: Path) -> None:
    with new_ledger(kind, tmp_path) as ledger, moved_clock() as clock:
        campaign = new_campaign(ledger)
        short, long = (
            campaign.operator.new_token(Role.WORKER, 60.0),
            campaign.operator.new_token(Role.WORKER, 3600.0),
        )
        assert {right.token for right in ledger.rights([short, long])} == {short, long}
        clock.move(61)
        assert [right.token for right in ledger.rights([short, long])] == [long]
        other = ledger.create_campaign("other", KEY, PLAN.work.tolist())
        assert not other.operator.revoke(2)
        assert [record.token_id for record in campaign.operator.tokens()] == [1, 2]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_token_is_extended_and_never_shortened(kind: str, tmp_path: Path) -> None:
    with new_ledger(kind, tmp_path) as ledger, moved_clock() as clock:
        campaign, other = new_campaign(ledger), ledger.create_campaign("other", KEY, PLAN.work.tolist())
        kept, year, endless = (campaign.operator.new_token(Role.WORKER, valid) for valid in (60.0, 365 * DAY, None))
        clock.move(61)
        assert all(campaign.operator.extend(token, DAY) for token in (kept, year, endless))
        assert [record.expires is None for record in campaign.operator.tokens()] == [False, False, True]
        clock.move(DAY - 60)
        assert {right.token for right in ledger.rights([kept, year, endless])} == {kept, year, endless}
        clock.move(61)
        assert {right.token for right in ledger.rights([kept, year, endless])} == {year, endless}
        campaign.operator.revoke(kept)
        assert (campaign.operator.extend(kept, DAY), other.operator.extend(year, DAY)) == (False, False)


def test_the_token_of_a_server_is_valid_as_long_as_it_serves_and_a_month_more(tmp_path: Path) -> None:
    file, time_of_server = tmp_path / "workers.join", MovableClock()
    entrance = Entrance(["http://127.0.0.1:8765"], None, "")
    with new_ledger("sqlite", tmp_path) as ledger, moved_clock() as clock:
        campaign = new_campaign(ledger)

        def is_valid() -> bool:
            return bool(ledger.rights([Join.read(file).token]))

        def expires() -> float:
            [record] = campaign.operator.tokens()
            assert record.expires is not None
            return record.expires

        for _ in range(2):  # started again, it has the same token
            with worker_joins(campaign, file, entrance, time_of_server):
                for _ in range(3):
                    before = expires()
                    clock.move(20 * DAY)
                    while expires() < before + 19 * DAY:
                        time_of_server.move(DAY)  # again: it may not have begun to wait
                        time.sleep(0.001)
                    assert is_valid()
            clock.move(29 * DAY)
            assert is_valid()
            clock.move(2 * DAY)
            assert not is_valid()
        campaign.operator.revoke()
        with pytest.raises(BadInput, match="delete the file"), worker_joins(campaign, file, entrance):
            pass
        file.unlink()
        with worker_joins(campaign, file, entrance):
            assert is_valid()


# -- text of strangers ------------------------------------------------------------------------


def test_a_campaign_has_a_plain_name(langford: Run, tmp_path: Path) -> None:
    with new_ledger("sqlite", tmp_path, "names.db") as ledger:
        for name in ("[/evil]", "../x", "", "a" * 101, "a b", "-l", "é", "a\n", "x\0"):
            with pytest.raises(BadName):
                ledger.create_campaign(name, KEY, PLAN.work.tolist())
        assert ledger.campaigns() == []
    refused = langford("create", "langford", "7", "--name", "../x")
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)


def test_text_of_strangers_is_plain() -> None:
    assert plain("a\tb\r\n\x9b\u202e\U000e0001é") == "a\\tb\\r\\n\\x9b\\u202e\\U000e0001é"


def test_a_process_with_an_odd_name_is_not_known_to_be_dead() -> None:
    for process in ("", "x", "@", "-1", "٣", "9" * 30, "1@x@y", "0x1", "1\n"):
        assert not is_dead(os.uname().nodename, process)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who alone can be several users")
def test_a_process_of_another_user_is_dead_if_it_has_the_id_of_an_earlier_one() -> None:
    host = os.uname().nodename
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, user=STRANGER) as other:
        name = process_name(other.pid)
        pid, started, boot = name.split("@")
        os.seteuid(STRANGER + 1)
        try:
            with pytest.raises(PermissionError):
                os.kill(other.pid, 0)
            assert (is_dead(host, name), is_dead(host, f"{pid}@{int(started) - 1}@{boot}")) == (False, True)
        finally:
            os.seteuid(0)


def test_an_address_with_an_at_in_its_password_is_refused() -> None:
    with pytest.raises(LedgerUnusable, match="%40"):
        Ledger("postgresql://ada:a@b@host/records")
