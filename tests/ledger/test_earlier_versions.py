"""Ledgers and exports that earlier versions of the program wrote, one of each schema.

``earlier/NNNN.sql.gz`` is the dump of a SQLite ledger that the last version with this schema wrote, and
``earlier/NNNN.jsonl.gz`` an export by the same version: L(2,8) by polyphase in 55 tasks, all done, and L(2,7) by
miller in 15 tasks, none done.
"""

from __future__ import annotations

import gzip
import os
import resource
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from db import Delivery, Ledger
from db.errors import LedgerUnusable
from db.schema import upgrading
from db.store.database import Database
from db.store.revision import MIGRATIONS, SCHEMA
from jobs.verify.exchange import take
from langford.methods import plan_of
from langford.result import Evaluation
from tests.support.command_line import ENVIRONMENT, Run
from tests.support.databases import new_ledger
from tests.support.preloaded import preloaded

EARLIER = Path(__file__).parent / "earlier"
SCHEMAS = sorted({file.name.partition("_")[0] for file in (MIGRATIONS / "versions").glob("[0-9]*.py")})
FINISHED, EMPTY = "eight", "seven"


def ledger_of(schema: str, folder: Path) -> str:
    """The ledger that a version of this schema wrote."""
    where = folder / "langford.db"
    with closing(sqlite3.connect(where)) as connection:
        connection.executescript(gzip.decompress((EARLIER / f"{schema}.sql.gz").read_bytes()).decode())
    return str(where)


def dump(file: Path) -> str:
    """All that is in a SQLite database, as SQL."""
    with closing(sqlite3.connect(file)) as connection:
        return "\n".join(connection.iterdump()) + "\n"


def test_there_is_a_ledger_and_an_export_of_every_schema() -> None:
    assert SCHEMAS[-1] == SCHEMA
    for suffix in (".sql.gz", ".jsonl.gz"):
        assert sorted(file.name.removesuffix(suffix) for file in EARLIER.glob(f"*{suffix}")) == SCHEMAS


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_ledger_of_an_earlier_version_is_upgraded_and_goes_on(schema: str, tmp_path: Path) -> None:
    where = ledger_of(schema, tmp_path)
    before = dump(Path(where))
    if schema != SCHEMA:
        with pytest.raises(
            LedgerUnusable, match=f"has schema {schema} of an earlier version: `langford ledger upgrade"
        ):
            Ledger(where)
    copy = Database.upgrade(where)
    if schema == SCHEMA:
        assert copy is None
    else:
        assert copy == Path(f"{where}.schema-{schema}")
        assert dump(copy) == before
    with Ledger(where) as ledger:
        assert ledger.campaign(FINISHED).merged().published == 150
        campaign = ledger.campaign(EMPTY)
        plan = plan_of(campaign.key)
        assert campaign.progress().tasks == {"ready": len(plan.work)}
        ledger.enrol("a", "host", "1")
        for lease in campaign.lease("a", len(plan.work), 60.0):
            evaluation = Evaluation(plan.evaluate(lease.index), 0.5, "{}")
            campaign.deliver([Delivery.of(lease, evaluation)])
        assert campaign.merged().published == 26


def test_a_ledger_of_before_version_1_is_left_alone(langford: Run, tmp_path: Path) -> None:
    where = ledger_of(SCHEMAS[0], tmp_path)
    with closing(sqlite3.connect(where)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '0007'")
    before = dump(Path(where))
    for command in (["status"], ["ledger", "upgrade", where]):
        refused = langford(*command)
        assert refused.returncode == 2
        assert "has schema 0007" in refused.stderr
        assert "use the version that wrote it" in refused.stderr
    assert dump(Path(where)) == before


def test_the_command_that_upgrades(langford: Run, tmp_path: Path) -> None:
    ledger_of(SCHEMAS[0], tmp_path)
    refused = langford("status")
    assert refused.returncode == 2
    assert "langford ledger upgrade --ledger langford.db" in refused.stderr
    assert langford("ledger", "upgrade", "langford.db").returncode == 0
    assert langford("result", FINISHED).returncode == 0


@pytest.mark.parametrize("schema", SCHEMAS)
def test_an_export_of_an_earlier_version_is_imported(schema: str, tmp_path: Path) -> None:
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        campaign, events = take(ledger, EARLIER / f"{schema}.jsonl.gz")
        assert campaign.name == FINISHED
        assert len(events) == 55
        assert campaign.merged().published == 150


def test_a_copy_replaces_nothing_and_is_as_private_as_the_ledger(tmp_path: Path) -> None:
    """Neither a file nor a link that leads nowhere."""
    where = ledger_of("0012", tmp_path)
    Path(where).chmod(0o600)
    other, link = (tmp_path / f"langford.db.schema-0012{suffix}" for suffix in ("", "-2"))
    other.write_text("another")
    link.symlink_to(tmp_path / "offline" / "backup")
    copy = Database.upgrade(where)
    assert copy == tmp_path / "langford.db.schema-0012-3"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert other.read_text() == "another"
    assert link.is_symlink()


def signal_when_copied(number: int) -> None:
    """Have the process of a command get a signal once the file of the copy is there and the copy is not."""
    upgrading.closing = lambda _: os.kill(os.getpid(), number)  # type: ignore[assignment]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_copy_that_was_interrupted_has_no_name_of_a_copy(number: int, tmp_path: Path) -> None:
    where = ledger_of("0012", tmp_path)
    before = dump(Path(where))
    prepare = ("tests.ledger.test_earlier_versions:signal_when_copied", {"number": int(number)})
    process = preloaded().start(["ledger", "upgrade", where], tmp_path, ENVIRONMENT, prepare=prepare)
    assert process.wait() in (-number, 128 + number)
    assert not list(tmp_path.glob("langford.db.schema-*"))
    copy = Database.upgrade(where)
    assert copy == tmp_path / "langford.db.schema-0012"
    assert dump(copy) == before
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("place", ["db.schema.views:drop", "pathlib:Path.replace"])
def test_an_upgrade_that_was_killed_leaves_no_second_copy(place: str, tmp_path: Path) -> None:
    """When its copy has a name, or before that has content."""
    where = ledger_of("0012", tmp_path)
    before = dump(Path(where))
    prepare = ("tests.support.preloaded:die_at", {"place": place})
    process = preloaded().start(["ledger", "upgrade", where], tmp_path, ENVIRONMENT, prepare=prepare)
    assert process.wait() == -signal.SIGKILL
    copy = tmp_path / "langford.db.schema-0012"
    assert copy.exists()
    assert Database.upgrade(where) == copy
    assert dump(copy) == before
    assert sorted(os.listdir(tmp_path)) == sorted(["langford.db", copy.name])


def test_without_room_for_a_copy_nothing_is_upgraded(tmp_path: Path) -> None:
    where = ledger_of("0012", tmp_path)
    before = dump(Path(where))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        with pytest.raises(LedgerUnusable, match=r"cannot copy .* before it is upgraded .*: free some space"):
            Database.upgrade(where)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert dump(Path(where)) == before
    assert not list(tmp_path.glob("*schema-*"))
