"""Questions of people to a ledger, in SQL that can change nothing, and its views."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select, update

from db import Database, Ledger
from db.look.read_only import BadQuery, ask_sql
from db.schema.models import Attempt, Base
from db.schema.view_queries import View
from db.schema.views import VIEWS
from db.store import soundness
from tests.support.campaigns import (
    HOUR,
    NAME,
    TASKS,
    deliver,
    forged,
    new_campaign,
    true_deliveries,
    write_used_ledger,
)
from tests.support.cases import exhaustive
from tests.support.databases import new_address, new_ledger
from tests.support.enrolling import enrol

KINDS = ["sqlite", "postgres", *exhaustive(["pgbouncer"])]


@pytest.fixture(scope="module", params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A ledger with a row in every table, in each kind of database; questions change nothing of it."""
    where = new_address(request.param, tmp_path_factory.mktemp("asked"))
    write_used_ledger(where)
    with Database(where) as opened:
        yield opened


@pytest.fixture(params=KINDS)
def finished(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Such a ledger whose campaign is done."""
    where = new_address(request.param, tmp_path)
    write_used_ledger(where)
    with Ledger(where) as ledger:
        campaign = ledger.campaign(NAME)
        enrol(ledger, "c", "host-c", "1")
        while leases := campaign.worker.lease("c", TASKS, HOUR):
            campaign.worker.deliver(true_deliveries(leases))
        yield ledger.database


def asked(database: Database, sql: str, seconds: float = 30.0) -> list[tuple[object, ...]]:
    with ask_sql(database, sql, seconds) as answer:
        return list(answer.rows)


def contents(database: Database) -> list[object]:
    """Every row of every table."""
    with database.reading() as connection:
        return [sorted(map(repr, connection.execute(select(table)))) for table in Base.metadata.sorted_tables]


# -- questions of people ----------------------------------------------------------------------


def test_a_question_is_answered_with_the_names_of_its_columns(database: Database) -> None:
    with ask_sql(
        database, "SELECT name, tasks AS number FROM campaign WHERE name LIKE '%eve%' -- a remark"
    ) as answer:
        assert answer.columns == ("name", "number")
        assert list(answer.rows) == [(NAME, TASKS)]
    assert asked(database, "WITH t AS (SELECT 1 AS one) SELECT one FROM t;") == [(1,)]
    assert asked(database, "VALUES (1, 'a'), (2, NULL)") == [(1, "a"), (2, None)]
    assert len(asked(database, "SELECT * FROM task_overview")) == TASKS


WRITES = [
    "INSERT INTO event (campaign_id, at, kind, detail) VALUES (1, 0, 'created', '')",
    "UPDATE task SET state = 'done'",
    "DELETE FROM result",
    "DROP TABLE witness",
    "DROP VIEW task_overview",
    "CREATE TABLE other (x INTEGER)",
    "CREATE TEMPORARY TABLE other (x INTEGER)",
    "CREATE TEMP TABLE other AS SELECT * FROM result",
    "ALTER TABLE task ADD COLUMN x INTEGER",
    "CREATE INDEX other ON task (work)",
    "VACUUM",
    "ANALYZE",
    "REINDEX",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT x",
    "DELETE FROM result RETURNING task_index",
    "INSERT INTO event (campaign_id, at, kind, detail) VALUES (1, 0, 'created', '') RETURNING id",
    "EXPLAIN ANALYZE DELETE FROM result",
    "SELECT 1; DELETE FROM result",
    "SELECT 1; COMMIT; DELETE FROM result; BEGIN",
    "; DELETE FROM result",
    "/* SELECT 1 */ DELETE FROM result",
    "",
    ";",
    "nonsense",
]
ONLY_SQLITE = [
    "ATTACH DATABASE '{folder}/other.db' AS other",
    "PRAGMA page_count",
    "VACUUM INTO '{folder}/other.db'",
    "PRAGMA user_version = 7",
    "WITH x AS (SELECT 1) DELETE FROM result",
    "REPLACE INTO ledger VALUES ('x', 0)",
]
ONLY_POSTGRES = [
    "COPY result TO STDOUT",
    "TRUNCATE witness",
    "WITH gone AS (DELETE FROM result RETURNING *) SELECT * FROM gone",
    "SELECT * INTO other FROM result",
    "SELECT * FROM task FOR UPDATE",
    "LOCK TABLE task",
    "SET statement_timeout = 0",
    "DO $$ BEGIN DELETE FROM result; END $$",
    "PREPARE p AS DELETE FROM result",
    "SELECT setval('event_id_seq', 1)",
    "SELECT nextval('event_id_seq')",
    "SELECT lo_create(7)",
    "SELECT query_to_xml('DELETE FROM result', true, true, '')",
]


ONLY = {"sqlite": ONLY_SQLITE, "postgresql": ONLY_POSTGRES}


def test_sqlite_keeps_to_the_limits_and_hides_the_secret(tmp_path: Path) -> None:
    write_used_ledger(str(tmp_path / "ledger.db"))
    with Database(str(tmp_path / "ledger.db")) as database:
        assert asked(database, "SELECT secret, name FROM campaign") == [(None, NAME)]
        assert {row[0] for row in asked(database, "SELECT nonce FROM attempt")} == {None}
        assert asked(database, "WITH t AS (SELECT secret FROM campaign) SELECT * FROM t, t AS u") == [(None, None)]
        for view in VIEWS:  # none needs what is hidden
            with database.reading() as connection:
                rows = [tuple(row) for row in connection.exec_driver_sql(f"SELECT * FROM {view.name}")]
            assert [len(row) for row in asked(database, f"SELECT * FROM {view.name}")] == [len(row) for row in rows]
        for long in ("printf('%.*c', 2000000000, 'x')", "format('%.*c', 2000000000, 'x')", "zeroblob(100000000)"):
            with pytest.raises(BadQuery, match=r"not authorized to use function|too big"):
                asked(database, f"SELECT {long}")
        with database.reading() as connection:
            assert len(connection.exec_driver_sql("SELECT secret FROM campaign").scalar_one()) == 64
            assert connection.exec_driver_sql("SELECT length(zeroblob(100000000))").scalar_one() == 10**8


def test_nothing_is_changed(database: Database, tmp_path: Path) -> None:
    before = contents(database)
    for sql in WRITES + ONLY[database.engine.dialect.name]:
        with pytest.raises(BadQuery, match=r"^(?!.*--seconds)"):
            asked(database, sql.format(folder=tmp_path))
        assert contents(database) == before, sql
        assert not [*tmp_path.iterdir()], sql
        # The connection that was used for it is as it was.
        with database.writing() as connection:
            connection.exec_driver_sql("UPDATE ledger SET created = created")


def test_a_question_has_its_time(database: Database) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    for columns in ("count(*)", "i"):  # the reading of rows takes its time too
        with pytest.raises(BadQuery, match="--seconds"):  # without a limit it would never end
            asked(database, f"{endless} SELECT {columns} FROM n", seconds=0.1)
        with database.reading() as connection:  # others have no limit
            bounded = endless.replace("FROM n", "FROM n WHERE i < 1000000")
            assert connection.exec_driver_sql(f"{bounded} SELECT count(*) FROM n").scalar_one() == 10**6
        assert asked(database, "SELECT 1") == [(1,)]


# -- views ------------------------------------------------------------------------------------


def rows_of(database: Database, name: str) -> list[dict[str, object]]:
    with ask_sql(database, f"SELECT * FROM {name}") as answer:
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_its_columns(database: Database, view: View) -> None:
    with ask_sql(database, f"SELECT * FROM {view.name}") as answer:
        assert answer.columns == tuple(view.columns)
        assert list(answer.rows) or view.name == "disagreements"


def test_a_result_that_came_late_makes_its_attempt_no_loss(tmp_path: Path) -> None:
    """Two leases expire; for one of them the result comes all the same."""
    with new_ledger("sqlite", tmp_path) as ledger:
        campaign = new_campaign(ledger)
        late, _ = campaign.worker.lease("a", 2, HOUR)
        with ledger.database.writing() as connection:
            connection.execute(update(Attempt).values(deadline=Attempt.granted - 1, computed=1.0))
        campaign.worker.lease("b", 1, HOUR)
        campaign.worker.deliver(true_deliveries([late]))
        hosts = {row["host"]: (row["results"], row["lost"]) for row in rows_of(ledger.database, "worker_overview")}
    assert hosts["host-a"] == (1, 1)


def test_disagreements_name_both_values(tmp_path: Path) -> None:
    with new_ledger("sqlite", tmp_path) as ledger:
        campaign = new_campaign(ledger)
        campaign.operator.raise_share(1.0)
        [lease] = campaign.worker.lease("a", 1, HOUR)
        deliver(campaign, lease, forged(lease.index))
        [again] = [one for one in campaign.worker.lease("b", TASKS, HOUR) if one.index == lease.index]
        campaign.worker.deliver(true_deliveries([again]))
        [row] = rows_of(ledger.database, "disagreements")
    assert (row["accepted_host"], row["other_host"], row["doubt"]) == ("host-a", "host-b", "conflict")
    assert row["accepted_value"] == str(forged(lease.index).value) != row["other_value"]


def test_malformed_json_is_not_looked_for_in_the_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To read a large ledger for damage takes longer than a question may."""
    monkeypatch.setattr(soundness, "damage", lambda: pytest.fail("the ledger was read"))
    write_used_ledger(str(tmp_path / "ledger.db"))
    with Database(str(tmp_path / "ledger.db")) as opened, pytest.raises(BadQuery, match="malformed JSON"):
        asked(opened, "SELECT json_extract(detail, '$.reason') FROM event")
