"""Messages that are none: refused with status 400 and one line that names the field, before the ledger is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from db import Ledger
from db.states import Role
from jobs.farm.api import server
from tests.support.asgi import Client
from tests.support.campaigns import NAME, new_campaign

UUID = "11111111-0000-4000-8000-000000000000"
SHOWN = {"attempt": 1, "nonce": "n"}
REQUESTS: dict[str, dict[str, Any]] = {
    "workers": {
        "worker": UUID, "host": "h", "process": "1@2@3", "device_kind": "cpu", "kernels": "k", "cores": 4,
        "processes": 2, "device_model": "a chip", "slurm_job": "12", "slurm_index": 3,
    },
    "departures": {"worker": UUID, "ending": "finished"},
    "leases": {"campaign": UUID, "worker": "w", "count": 3, "seconds": 60, "held": [1], "copies": 0},
    "renewals": {"attempts": [SHOWN], "seconds": 60.5, "steps": [[1, 2]]},
    "releases": {"attempts": [SHOWN], "outcome": "released", "note": "x"},
    "failures": {**SHOWN, "reason": "r"},
    "deaths": {**SHOWN, "reason": "r"},
    "results": {
        "deliveries": [
            {
                **SHOWN, "index": 3, "value": "-12", "residue": "5", "evaluated": "9", "seconds": 0.5,
                "provenance": "{}", "began": 1.5,
            }
        ],
        "now": 5.0,
    },
}  # fmt: skip
WRONG = {
    "text": [None, 7, True, [], {}, "x" * 4_001, "\0", "\ud800"],
    "integer": ["7", 1.0, True, -1, 2**63, 10**30, 10**400, [], {}, float("nan")],
    "number": ["7", True, -1, 1e30, 10**31, 10**400, float("inf"), float("nan"), [], {}],
}
OWN: dict[str, list[Any]] = {
    "worker": ["", UUID.upper(), f"{UUID}\n", "../etc"],
    "campaign": ["", "another"],
    "host": ["", "a\nb", "\x1b[2J", "x" * 256],
    "process": ["", "x", "1@", "-1"],
    "device_kind": ["abacus", "CPU"],
    "kernels": ["", "a b", "x" * 65],
    "device_model": ["a\tb", "x" * 201],
    "slurm_job": ["\x7f", "x" * 41],
    "ending": ["lost", "ended"],
    "count": [0, 1_001],
    "held": [None, 7, ["x"], [-1], [True], [0] * 100_001],
    "attempts": [None, {}, [None], [{**SHOWN, "more": 1}], [{"attempt": 1}], [SHOWN] * 1_001],
    "nonce": ["é", "x" * 65],
    "steps": [None, [1], [[1]], [[1, 2, 3]], [["1", 2]], [[1, 2]] * 1_001],
    "outcome": ["done", "expired"],
    "value": ["", "1.0", "1e3", "0x1", "+1", "1\n", "١", "9" * 201],
    "evaluated": ["-5"],
    "seconds": [],
    "deliveries": [None, {}, [None], [{}]],
}
OPTIONAL = {"cores", "processes", "device_model", "slurm_job", "slurm_index", "began"}


def cases() -> Iterator[Any]:
    """(path, request, the name that its error has)."""
    for path, right in REQUESTS.items():
        yield pytest.param(path, {**right, "more": 1}, "more", id=f"{path}-more")
        for value in (None, [], 7, "x"):
            yield pytest.param(path, value, "object", id=f"{path}-{value}")
        for name, value in right.items():
            if name == "deliveries":
                for inner, part in value[0].items():
                    for wrong in wrong_for(inner, part):
                        yield case(path, {**right, name: [{**value[0], inner: wrong}]}, inner, wrong)
            without = {other: kept for other, kept in right.items() if other != name}
            yield pytest.param(path, without, name, id=f"{path}-without-{name}")
            for wrong in wrong_for(name, value):
                yield case(path, {**right, name: wrong}, name, wrong)


def case(path: str, document: Any, name: str, wrong: Any) -> Any:
    return pytest.param(path, document, name, id=f"{path}-{name}-{ascii(wrong)[:20]}")


def wrong_for(name: str, value: Any) -> list[Any]:
    """Values that a field cannot have."""
    kind = {str: "text", int: "integer", float: "number"}.get(type(value), "")
    if name == "seconds":
        kind = "number"
    return [
        wrong for wrong in [*WRONG.get(kind, []), *OWN.get(name, [])] if wrong is not None or name not in OPTIONAL
    ]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, dict[str, str], Ledger]]:
    folder: Path = tmp_path_factory.mktemp("wire")
    ledger = Ledger(str(folder / "ledger.db"), create=True)
    campaign = new_campaign(ledger, workers="")
    headers = {"Authorization": f"Bearer {campaign.new_token(Role.WORKER)}", "Content-Type": "application/json"}
    client = Client(server.application(ledger, [NAME], server.RateLimit(1e9, 1e9)))
    yield client, headers, ledger
    client.close()
    ledger.close()


@pytest.mark.parametrize(("path", "document", "name"), cases())
def test_a_wrong_message_is_refused_and_its_field_is_named(
    asked: tuple[Client, dict[str, str], Ledger],
    path: str,
    document: Any,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client, headers, ledger = asked
    monkeypatch.setattr(ledger.database, "writing", None)  # nothing of it may reach the ledger
    answer = client.post(f"/campaigns/{NAME}/{path}", content=json.dumps(document), headers=headers)
    assert answer.status_code == 400, answer.text
    message = answer.json()["error"]
    assert name in message or "JSON" in message
    assert message.isprintable()
    assert len(message) < 300
