"""Ledgers and exports that earlier versions of the program wrote, one of each schema.

``earlier/NNNN.sql.gz`` is the dump of a SQLite ledger that the last version with this schema wrote, and
``earlier/NNNN.jsonl.gz`` an export by the same version: L(2,8) by polyphase in 55 tasks, all done, and L(2,7) by
miller in 15 tasks, none done (not in 0001, whose version could not create a campaign without running it).
"""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path

import pytest

from db import Delivery, Ledger
from db.errors import WrongSchema
from db.store.database import Database
from db.store.schema import MIGRATIONS, SCHEMA
from jobs.run.loop import result
from jobs.verify.exchange import take
from langford.methods import plan_of
from langford.result import Evaluation

EARLIER = Path(__file__).parent / "earlier"
SCHEMAS = sorted(
    {file.name.partition("_")[0] for file in (MIGRATIONS / "versions").glob("[0-9]*.py")}
    - {"0009"}  # no version stopped there: it came with 0010
)
FINISHED, EMPTY = "eight", "seven"


def ledger_of(schema: str, folder: Path) -> str:
    """The ledger that a version of this schema wrote."""
    where = folder / "langford.db"
    with sqlite3.connect(where) as connection:
        connection.executescript(gzip.decompress((EARLIER / f"{schema}.sql.gz").read_bytes()).decode())
    connection.close()
    return str(where)


def test_there_is_a_ledger_and_an_export_of_every_schema() -> None:
    assert SCHEMAS[-1] == SCHEMA
    for suffix in (".sql.gz", ".jsonl.gz"):
        assert sorted(file.name.removesuffix(suffix) for file in EARLIER.glob(f"*{suffix}")) == SCHEMAS


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_ledger_of_an_earlier_version_is_upgraded_and_goes_on(schema: str, tmp_path: Path) -> None:
    where = ledger_of(schema, tmp_path)
    if schema != SCHEMA:
        with pytest.raises(
            WrongSchema, match=f"has schema {schema} of an earlier version: `langford ledger upgrade"
        ):
            Ledger(where)
    Database(where, upgrade=True).close()
    with Ledger(where) as ledger:
        assert result(ledger.campaign(FINISHED)).published == 150
        if schema == "0001":
            return
        campaign = ledger.campaign(EMPTY)
        plan = plan_of(campaign.key)
        assert campaign.progress().tasks == {"ready": len(plan.work)}
        ledger.enrol("a", "host", "1")
        for lease in campaign.lease("a", len(plan.work), 60.0):
            evaluation = Evaluation(plan.evaluate(lease.index), 0.5, "{}")
            campaign.deliver([Delivery(lease.attempt, lease.nonce, evaluation)])
        assert result(campaign).published == 26


@pytest.mark.parametrize("schema", SCHEMAS)
def test_an_export_of_an_earlier_version_is_imported(schema: str, tmp_path: Path) -> None:
    with Ledger(str(tmp_path / "langford.db"), create=True) as ledger:
        campaign, events = take(ledger, EARLIER / f"{schema}.jsonl.gz")
        assert campaign.name == FINISHED
        assert len(events) == 55
        assert result(campaign).published == 150
