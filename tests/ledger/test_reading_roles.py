"""A role of Postgres that may read all but secrets, as the documentation grants it; and the same on SQLite."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Connection, make_url, text

from db import Database, Ledger
from db.errors import LedgerReadOnly, WrongToken
from db.look.read_only import BadQuery, ask_sql
from db.schema.views import HIDDEN, VIEWS, granted
from db.states import Role
from db.work.tokens import digest
from docs.scripts import ledger_dictionary
from jobs.farm.api import server
from tests.support.asgi import Client
from tests.support.campaigns import new_campaign, terms_of, with_token
from tests.support.command_line import Run
from tests.support.databases import new_address, new_ledger
from tests.support.enrolling import enrol

NAME, WAITING = "eight", "waiting"
COMMANDS = [
    ["status"],
    ["status", NAME, "--json"],
    ["status", WAITING],
    ["status", NAME, "--watch"],
    ["tasks", NAME],
    ["result", NAME],
    ["result", WAITING, "--unconfirmed"],
    ["export", NAME, "--out", "out.jsonl.gz"],
    ["export", WAITING, "--out", "waiting.jsonl.gz"],
    ["verify", NAME, "--sample", "100%"],
    ["report", NAME, "--out", "out.html"],
    ["token", NAME, "--list"],
    ["run", "langford", "8", "--depth", "4", "--name", NAME],
    ["query", "SELECT * FROM task_overview"],
    ["query", "SELECT count(*), min(name) FROM campaign"],
]
SECRETS = [
    "SELECT secret FROM campaign",
    "SELECT * FROM campaign",
    "TABLE token",
    "SELECT name FROM campaign WHERE secret > 'a'",
    "SELECT name FROM campaign ORDER BY secret",
    "SELECT c FROM campaign AS c",
    "SELECT row_to_json(c) FROM campaign AS c",
    "SELECT max(digest) FROM token",
    "SELECT nonce FROM attempt",
    "SELECT task_index FROM task JOIN attempt USING (task_index) WHERE nonce IS NULL",
    "SELECT query_to_xml('SELECT secret FROM campaign', true, true, '')",
    "SELECT most_common_vals FROM pg_stats WHERE attname = 'secret' AND tablename = 'no'",
]


def used(address: str, langford: Run) -> set[str]:
    """Use a ledger for a while; returns what is secret in it."""
    assert langford("run", "langford", "8", "--depth", "4", "--name", NAME, "--ledger", address).returncode == 0
    create = ["create", "langford", "7", "--method", "polyphase", "--depth", "4", "--name", WAITING]
    assert langford(*create, "--replicate", "1", "--ledger", address).returncode == 0
    assert langford("run", WAITING, "--ledger", address).returncode == 3
    with Ledger(address) as ledger:
        ledger.campaign(NAME).operator.new_token(Role.READER)
        with ledger.database.reading() as connection:
            return {value for place in sorted(HIDDEN) for value in hidden(connection, *place)}


def hidden(connection: Connection, table: str, column: str) -> list[str]:
    """All that stands in a column."""
    values = list(connection.scalars(text(f"SELECT {column} FROM {table}")))
    assert values
    return values


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_a_role_that_only_reads_needs_no_secret(langford: Run, tmp_path: Path) -> None:
    address = new_address("postgres", tmp_path)
    secrets = used(address, langford)
    url = make_url(address)
    role = f"reader_{str(url.database)[-12:]}"
    with Ledger(address) as ledger, ledger.database.writing() as connection:
        connection.exec_driver_sql(f"CREATE ROLE {role} LOGIN")
        for statement in granted(role):
            connection.exec_driver_sql(statement)
    reading = url.set(username=role, password=None).render_as_string(hide_password=False)
    for command in COMMANDS:
        done = langford(*command, "--ledger", reading)
        assert done.returncode == 0, (command, done.stderr)
        assert not [secret for secret in secrets if secret in done.stdout + done.stderr], command
    for file in ("out.html", "out.jsonl.gz", "waiting.jsonl.gz"):
        assert not [secret for secret in secrets if secret.encode() in (tmp_path / file).read_bytes()]
    with Database(reading) as database:
        for view in VIEWS:
            with ask_sql(database, f"SELECT * FROM {view.name}") as answer:
                told = repr(list(answer.rows))
            assert not [secret for secret in secrets if secret in told], view.name
        with ask_sql(database, "SELECT id, role, label FROM token") as answer:
            assert list(answer.rows)
        for sql in SECRETS:
            try:
                with ask_sql(database, sql) as answer:
                    told = repr(list(answer.rows))
                    assert "pg_stats" in sql, told
            except (BadQuery, LedgerReadOnly) as error:
                told = str(error)
            assert not [secret for secret in secrets if secret in told], sql
    asked = langford("query", SECRETS[0], "--ledger", reading)
    assert (asked.returncode, len(asked.stderr.splitlines())) == (2, 1), asked.stderr
    words = ["cancel NAME", "recheck NAME --all", "token NAME", "run 7"]
    for command in (line.replace("NAME", NAME).split() for line in words):
        refused = langford(*command, "--ledger", reading)
        assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1), refused.stderr
        assert "may not do this" in refused.stderr
    copied = langford("ledger", "copy", reading, "copy.db")
    assert (copied.returncode, len(copied.stderr.splitlines())) == (2, 1), copied.stderr
    with Ledger(address) as ledger, ledger.database.writing() as connection:
        connection.exec_driver_sql(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_the_hash_of_a_voters_token_opens_nothing(tmp_path: Path) -> None:
    """Who may read the ledger sees it, and shows it, or what follows from it, to the server."""
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        campaign = new_campaign(ledger, workers="")
        enrol(ledger, "w", "host-w", "1", terms=terms_of(campaign.operator.new_token(Role.WORKER)))
        with ask_sql(ledger.database, "SELECT token FROM voter WHERE host = 'host-w'") as answer:
            [(seen,)] = answer.rows
        assert len(seen) == 64
        tokens = [seen, digest(seen), bytes.fromhex(seen).decode("latin-1"), seen.upper(), f"sha256:{seen}"]
        client = Client(server.application(ledger, [campaign.name]))
        body = {"campaign": campaign.uuid, "worker": "w", "count": 9, "seconds": 60, "held": [], "copies": 0}
        for token in tokens:
            bearer = {"Authorization": f"Bearer {token}".encode("latin-1")}
            cookie = {"Cookie": f"langford-default={token}".encode("latin-1")}
            for shown in (bearer, cookie):
                assert client.get(f"/campaigns/{campaign.name}", headers=shown).status_code in (401, 403)
                path = f"/campaigns/{campaign.name}/leases"
                assert client.post(path, json=body, headers=shown).status_code in (401, 403)
            assert ledger.rights([token]) == []
            with pytest.raises(WrongToken):
                with_token(campaign, token).lease("w", 1, 60.0)
        client.close()
        assert campaign.reader.overview().attempts == {}


def test_the_page_says_what_is_granted() -> None:
    page = " ".join(ledger_dictionary.page().split())
    for statement in granted("reader"):
        assert statement in page
