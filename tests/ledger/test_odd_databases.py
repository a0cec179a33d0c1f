"""Databases of Postgres that are set up otherwise: encodings, schemas, roles, time limits, a standby."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import make_url, text

from db import Ledger
from db.errors import ConnectionLost, LedgerError, LedgerUnusable
from db.look.read_only import ask_sql
from db.states import Outcome, Role
from db.store.connections import SETTINGS
from langford.cli.main import cli
from tests.support.campaigns import COUNT, HOUR, NAME, TRUE, delivery, finish, new_campaign
from tests.support.command_line import Run
from tests.support.databases import fresh_database, new_ledger, postgres

WORDS = "Ärger, 漢字 und 🂡"
READING = [
    ["status"],
    ["tasks", NAME],
    ["result", NAME],
    ["token", NAME, "--list"],
    ["query", "SELECT * FROM task_overview"],
]
WRITING = [
    ["create", "langford", "8", "--name", "eight"],
    ["run", "langford", "8", "--depth", "4"],
    ["token", NAME],
    ["recheck", NAME, "--all"],
    ["rename", NAME, "other"],
    ["cancel", NAME],
    ["delete", NAME, "--yes"],
]


@pytest.fixture
def address(tmp_path: Path) -> str:
    return fresh_database("postgres", tmp_path)


def with_role(address: str, *statements: str) -> str:
    """The address for a new role, after the owner of the database has executed statements about that ``{role}``."""
    url = make_url(address)
    role = f"role_{url.database}"
    for statement in ("CREATE ROLE {role} LOGIN", *statements):
        execute(address, statement.format(role=role))
    return url.set(username=role).render_as_string(hide_password=False)


def execute(address: str, statement: str) -> None:
    subprocess.run(
        [postgres().bin_path / "psql", "--quiet", "--set", "ON_ERROR_STOP=1", address, "--command", statement],
        check=True,
    )


def with_encoding(address: str, encoding: str) -> str:
    """The address of a new database of this encoding, made in place of the one there."""
    name = make_url(address).database
    postgres().psql(f"DROP DATABASE {name};")
    postgres().psql(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0;")
    return address


def refusal(address: str, arguments: list[str]) -> str:
    """What a command says that cannot do its work; nothing else may go wrong."""
    done = CliRunner().invoke(cli, [*arguments, "--ledger", address], standalone_mode=False)
    assert isinstance(done.exception, LedgerError), done.exception
    assert "\n" not in str(done.exception)
    return str(done.exception)


def write_finished(address: str, words: str = WORDS) -> None:
    """A finished campaign, with words in every place that takes some."""
    with Ledger(address, create=True) as ledger:
        campaign = new_campaign(ledger)
        campaign.operator.new_token(Role.READER, label=words)
        [lease, other] = campaign.worker.lease("a", 2, HOUR)
        campaign.worker.deliver([delivery(lease, TRUE[lease.index], provenance=f'{{"host": "{words}"}}')])
        campaign.worker.end([other], Outcome.FAILED, words)
        finish(campaign, "b")


# -- encodings ------------------------------------------------------------------------------------------


def test_a_database_without_an_encoding_keeps_every_character(address: str) -> None:
    write_finished(with_encoding(address, "SQL_ASCII"))
    with Ledger(address) as ledger:
        campaign = ledger.campaign(NAME)
        assert campaign.reader.merged().published == COUNT
        assert [token.label for token in campaign.operator.tokens()] == [WORDS]
        with ledger.database.reading() as connection:
            [note] = connection.scalars(text("SELECT note FROM attempt WHERE outcome = 'failed'"))
            provenances = "".join(connection.scalars(text("SELECT provenance FROM result")))
    assert note == WORDS
    assert WORDS in provenances


def test_text_of_others_that_is_no_text_is_one_line(address: str) -> None:
    write_finished(with_encoding(address, "SQL_ASCII"))
    execute(address, r"UPDATE token SET label = E'a\xff'")
    assert "holds text that is not UTF-8" in refusal(address, ["token", NAME, "--list"])


def test_no_new_ledger_where_characters_are_missing(address: str) -> None:
    with_encoding(address, "LATIN1")
    for arguments in WRITING[:2]:
        assert "has the encoding LATIN1" in refusal(address, arguments)


# -- settings -------------------------------------------------------------------------------------------

OTHERWISE = {
    "statement_timeout": "1min",
    "lock_timeout": "1s",
    "idle_in_transaction_session_timeout": "1s",
    "idle_session_timeout": "1s",
    "transaction_timeout": "1s",
    "random_page_cost": "9",
    "default_transaction_isolation": "serializable",
    "extra_float_digits": "-15",
    "timezone": "Asia/Kolkata",
    "datestyle": "German, DMY",
    "standard_conforming_strings": "off",
}


def test_settings_of_a_role_change_nothing(address: str) -> None:
    """Times in another zone and with fewer digits, and limits for transactions and for idle connections."""
    assert OTHERWISE.keys() == {name.lower() for name in SETTINGS}
    write_finished(address)
    known = "SELECT name FROM pg_settings WHERE lower(name) IN ({})"
    with Ledger(address) as ledger, ledger.database.reading() as connection:
        names = list(connection.scalars(text(known.format(", ".join(f"'{name}'" for name in OTHERWISE)))))
    other = with_role(
        address,
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}",
        *(f"ALTER ROLE {{role}} SET {name} = '{OTHERWISE[name.lower()]}'" for name in names),
    )
    seen = []
    for where in (address, other):
        with Ledger(where) as ledger:
            campaign = ledger.campaign(NAME)
            with ledger.database.reading() as connection:
                shown = {name: connection.scalar(text(f"SHOW {name}")) for name in names}
                moments = connection.execute(text("SELECT granted, ended FROM attempt ORDER BY id")).all()
            with ask_sql(ledger.database, "SELECT * FROM task_overview") as answer:
                seen.append((shown, moments, list(answer.rows), campaign.created))
    assert seen[0] == seen[1]


# -- schemas --------------------------------------------------------------------------------------------


def on_path(address: str, path: str) -> str:
    return make_url(address).update_query_dict({"options": f"-csearch_path={path}"}).render_as_string(False)


def test_a_ledger_in_any_schema_of_the_search_path(address: str) -> None:
    for statement in (
        "CREATE SCHEMA one",
        "CREATE SCHEMA two",
        "CREATE TABLE public.alembic_version (version_num text)",
        "CREATE TABLE public.campaign (id int)",
    ):
        execute(address, statement)
    write_finished(on_path(address, "none,two,public"))
    for path in ("two", "two,public", "one,two", "none,two,one"):
        with Ledger(on_path(address, path), create=True) as ledger:
            assert ledger.campaign(NAME).reader.merged().published == COUNT
    assert "not a ledger" in refusal(address, ["status"])
    assert "is an empty database" in refusal(on_path(address, "one"), ["status"])
    for arguments in (["status"], WRITING[0]):
        said = refusal(on_path(address, "none"), arguments)
        assert "the role postgres reaches no schema" in said
        assert "its search_path is none" in said


# -- roles ----------------------------------------------------------------------------------------------


def test_a_role_that_may_not_create_tables(address: str) -> None:
    said = refusal(with_role(address), ["create", "langford", "8"])
    assert re.search(r"the role (\w+) may not create tables in .*: GRANT CREATE ON SCHEMA public TO \1", said)


def test_a_table_that_another_program_removed_is_named(tmp_path: Path) -> None:
    with new_ledger("postgres", tmp_path) as ledger:
        with ledger.database.engine.begin() as connection:
            connection.execute(text("ALTER TABLE campaign RENAME TO gone"))
        with pytest.raises(LedgerUnusable, match='relation "campaign" does not exist'):
            ledger.campaigns()


def test_a_role_without_rights_is_told_so(address: str) -> None:
    write_finished(address)
    role = with_role(address)
    for arguments in (*READING, *WRITING):
        assert "may not do this (permission denied for table" in refusal(role, arguments)


def test_a_role_that_works_needs_not_own_the_ledger(address: str, langford: Run) -> None:
    write_finished(address)
    role = with_role(
        address,
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
        "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}",
    )
    for arguments in (*READING, *WRITING[:-1]):
        done = langford(*arguments, "--ledger", role)
        assert done.returncode == 0, (arguments, done.stderr)
        if arguments[0] == "rename":
            refusal(role, ["rename", NAME, "other"])
            execute(address, f"UPDATE campaign SET name = '{NAME}' WHERE name = 'other'")
    assert "(must be owner of" in refusal(role, WRITING[-1])


# -- a standby ------------------------------------------------------------------------------------------


@pytest.fixture
def standby(address: str) -> Iterator[str]:
    """The address on a standby of a database with a finished campaign."""
    write_finished(address)
    server = postgres()
    with tempfile.TemporaryDirectory(prefix="langford-standby-") as folder:
        Path(folder).chmod(0o777)
        data, url = f"{folder}/data", make_url(address)

        def call(program: str, *arguments: str) -> None:
            subprocess.run(
                [server.bin_path / program, "--pgdata", data, *arguments],
                user=server.system_user, check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip

        source = url.set(drivername="postgresql", database=None).render_as_string(False)
        call("pg_basebackup", "--dbname", source, "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
        options = f"-k {folder} -c listen_addresses="
        call("pg_ctl", "--wait", "--log", f"{folder}/log", "--options", options, "start")
        try:
            yield url.update_query_dict({"host": folder}).render_as_string(False)
        finally:
            call("pg_ctl", "--mode=immediate", "stop")


@pytest.mark.exhaustive
def test_a_standby_is_read_and_refuses_the_rest(standby: str) -> None:
    for arguments in READING:
        done = CliRunner().invoke(cli, [*arguments, "--ledger", standby], standalone_mode=False)
        assert done.exception is None, arguments
    for arguments in (*WRITING, ["serve", NAME]):
        assert "is read-only here" in refusal(standby, arguments)


def test_several_hosts_are_tried_one_after_the_other() -> None:
    """As libpq allows: postgresql://ONE,TWO/NAME.  Nobody listens at any of these."""
    with pytest.raises(ConnectionLost, match=r"127\.0\.0\.2") as lost:
        Ledger("postgresql://ada@127.0.0.1:1,127.0.0.2:1/records?connect_timeout=2")
    assert "127.0.0.1" in str(lost.value.__cause__)
