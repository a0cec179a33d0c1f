"""Messages that are none: refused with status 400 and one line that names the field, before the ledger is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from db.states import Role
from jobs.farm.guard.limits import RateLimit
from tests.support.asgi import Client, Served
from tests.support.campaigns import NAME

UUID = "aaaaaaaa-0000-4000-8000-000000000000"
SHOWN = {"attempt": 1, "nonce": "n"}
REQUESTS: dict[str, dict[str, Any]] = {
    "workers": {
        "worker": UUID, "host": "h", "process": "1@2@3", "device_kind": "cpu", "kernels": "k", "cores": 4,
        "processes": 2, "device_model": "a chip", "slurm_job": "12", "slurm_index": 3,
    },
    "departures": {"worker": UUID, "ending": "finished"},
    "leases": {"campaign": UUID, "worker": "w", "count": 3, "seconds": 60, "held": [1], "copies": 0},
    "renewals": {"attempts": [SHOWN], "seconds": 60.5, "steps": [[1, 2]], "computed": [[1, 2.5]]},
    "releases": {"attempts": [SHOWN], "outcome": "released", "note": "x", "computed": [[1, 0]]},
    "failures": {**SHOWN, "reason": "r", "computed": 0.5},
    "deaths": {**SHOWN, "reason": "r", "computed": 0.5},
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
REQUESTS["exchanges"] = {"results": REQUESTS["results"], "lease": REQUESTS["leases"]}
WRONG = {
    "text": [None, 7, True, [], {}, "x" * 4_001, "\ud800"],
    "integer": [None, "7", 1.0, True, -1, 2**63, 10**30, 10**400, [], {}, float("nan")],
    "number": [None, "7", True, -1, 1e30, 10**31, 10**400, float("inf"), float("nan"), [], {}],
}
OWN: dict[str, list[Any]] = {
    "campaign": ["", UUID.upper(), f"{UUID}\n", "../etc"],
    "host": ["a\nb", "\x1b[2J", "x" * 256],
    "process": ["", "x", "@", "1@", "-1", "٣", "1" * 20],
    "cores": [2**31],
    "device_kind": ["abacus", "CPU"],
    "kernels": ["", "a b", "x" * 65],
    "device_model": ["a\tb", "x" * 201],
    "slurm_job": ["\x7f", "x" * 41],
    "ending": ["lost", "ended"],
    "count": [0, 1_001],
    "held": [None, 7, ["x"], [-1], [True], [0] * 100_001],
    "attempts": [None, {}, [None], [{"attempt": 1}], [SHOWN] * 1_001],
    "note": ["\0"],
    "reason": ["\0"],
    "provenance": ["\0"],
    "nonce": ["é", "x" * 65],
    "steps": [None, [1], [[1]], [[1, 2, 3]], [["1", 2]], [[1, 2]] * 1_001],
    "computed": [[1], [[1]], [[1, 2, 3]], [["1", 2]], [[1, -2.0]], [[1, 2.0]] * 1_001],
    "outcome": ["done", "expired"],
    "value": ["", "1.0", "1e3", "0x1", "+1", "1\n", "١", "9" * 201],
    "evaluated": ["-5"],
    "seconds": [],
    "deliveries": [None, {}, [None], [{}]],
}
NO_JSON = [b"", b"{", b"\xff", b"[" * 60_000, b'{"count": --5}', b"\x80\x04\x95\0\x8c\x05posix"]
OMITTED = {"cores", "processes", "device_model", "slurm_job", "slurm_index", "computed"}
"""What a request need not say."""
OPTIONAL = {*OMITTED, "began"}
MOMENTS = {"now", "began"}
"""Times by the clock of a worker, which may be before 1970."""


def cases(path: str) -> Iterator[tuple[Any, str]]:
    """(request, the name that its error has)."""
    right = REQUESTS[path]
    yield from ((value, "object") for value in (None, [], 7, "x"))
    if "host" in right:
        yield from (({**right, "worker": wrong}, "worker") for wrong in OWN["campaign"])
    for name, value in right.items():
        if name not in OMITTED:
            yield {other: kept for other, kept in right.items() if other != name}, name
        yield from (({**right, name: wrong}, name) for wrong in wrong_for(name, value))
    for name, value in right.get("deliveries", [{}])[0].items():
        for wrong in wrong_for(name, value):
            yield {**right, "deliveries": [{**right["deliveries"][0], name: wrong}]}, name


def wrong_for(name: str, value: Any) -> list[Any]:
    """Values that a field cannot have."""
    kind = {str: "text", int: "integer", float: "number"}.get(type(value), "")
    if name == "seconds":
        kind = "number"
    wrong = [*WRONG.get(kind, []), *OWN.get(name, [])]
    if name in MOMENTS:
        wrong.remove(-1)
    return [value for value in wrong if value is not None or name not in OPTIONAL]


@pytest.mark.exhaustive
def test_a_wrong_message_is_refused_and_its_field_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    farm = Served.with_all_roles(tmp_path, limit=RateLimit(1e9, 1e9))
    headers = {"Authorization": f"Bearer {farm.tokens[Role.WORKER]}"}
    client = Client(farm.application, headers=headers)
    monkeypatch.setattr(farm.ledger.database, "writing", None)  # nothing of it may reach the ledger
    for path, (document, name) in ((each, case) for each in REQUESTS for case in cases(each)):
        answer = client.post(f"/campaigns/{NAME}/{path}", content=json.dumps(document))
        shown = path, ascii(document)[:300], answer.text
        assert answer.status_code == 400, shown
        message = answer.json()["error"]
        assert name in message or "JSON" in message, shown
        assert message.isprintable(), shown
        assert len(message) < 300, shown
    for path in REQUESTS:
        for body in NO_JSON:
            assert client.post(f"/campaigns/{NAME}/{path}", content=body).status_code == 400, (path, body[:20])
    client.close()
    farm.close()
