"""What is no message is refused, and a line names the field: by types, by the server, by readers of a status."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import fields

from db.files.forms import MachineLine
from db.look.overview.records import Overview
from db.messages import BadMessage, converted, decoded
from db.messages import document as document_of
from db.states import Role
from tests.ledger.test_messages import Form
from tests.ledger.test_overview_documents import OVERVIEW
from tests.support.asgi import Client, Served
from tests.support.campaigns import NAME

UUID = "aaaaaaaa-0000-4000-8000-000000000000"
SHOWN = {"attempt": 1, "nonce": "n"}
IDENTITY = {
    "worker": UUID, "host": "h", "process": "1@2@3", "device_kind": "cpu", "kernels": "k", "cores": 4,
    "processes": 2, "device_model": "a chip", "slurm_job": "12", "slurm_index": 3,
}  # fmt: skip
REQUESTS: dict[str, dict[str, Any]] = {
    "departures": {"worker": UUID, "ending": "finished"},
    "leases": {"campaign": UUID, "worker": "w", "count": 3, "seconds": 60, "held": [1], "copies": 0},
    "renewals": {"attempts": [SHOWN], "seconds": 60.5, "steps": [[1, 2]], "computed": [[1, 2.5]]},
    "ends": {"attempts": [SHOWN], "outcome": "died", "note": "x", "computed": [[1, 0]]},
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
REQUESTS["workers"] = {"worker": IDENTITY, "lease": {**REQUESTS["leases"], "worker": UUID}}
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
    yield from ((value, "object") for value in (None, [], 7, "x"))
    if path == "workers":
        yield {"worker": IDENTITY, "lease": REQUESTS["leases"]}, "another worker"
    yield from cases_within(REQUESTS[path])


def cases_within(right: dict[str, Any]) -> Iterator[tuple[Any, str]]:
    if "host" in right:
        yield from (({**right, "worker": wrong}, "worker") for wrong in OWN["campaign"])
    for name, value in right.items():
        if name not in OMITTED:
            yield {other: kept for other, kept in right.items() if other != name}, name
        yield from (({**right, name: wrong}, name) for wrong in wrong_for(name, value))
        if isinstance(value, dict):
            yield from (({**right, name: wrong}, field) for wrong, field in cases_within(value))
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


@pytest.mark.parametrize("path", ["ends", "workers", "exchanges"])
def test_a_wrong_message_is_refused_and_its_field_is_named(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    farm = Served.with_all_roles(tmp_path)
    headers = {"Authorization": f"Bearer {farm.tokens[Role.WORKER]}"}
    client = Client(farm.application, headers=headers)
    monkeypatch.setattr(farm.ledger.database, "writing", None)  # nothing of it may reach the ledger
    for document, name in cases(path):
        answer = client.post(f"/campaigns/{NAME}/{path}", content=json.dumps(document))
        shown = path, ascii(document)[:300], answer.text
        assert answer.status_code == 400, shown
        message = answer.json()["error"]
        assert name in message or "JSON" in message, shown
        assert message.isprintable(), shown
        assert len(message) < 300, shown
    for body in NO_JSON:
        assert client.post(f"/campaigns/{NAME}/{path}", content=body).status_code == 400, (path, body[:20])
    client.close()
    farm.close()


# -- every kind of field ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"task": -1}, "task: expected an integer >= 0"),
        ({"task": 10**30}, "task: expected an integer <= 4611686018427387904"),
        ({"task": 1.0}, "task: expected an integer, got a number"),
        ({"task": True}, "task: expected an integer, got true or false"),
        ({"work": 1e30}, "work: expected a number < 1e+30"),
        ({"work": "1"}, "work: expected a number, got text"),
        ({"text": "x" * 4_001}, "text: expected text of length <= 4000"),
        ({"text": "\0"}, "text: expected text without NUL and unpaired surrogates"),
        ({"value": "1.5"}, "value: expected an integer as decimal text"),
        ({"value": "9" * 201}, "value: expected text of length <= 200"),
        ({"value": "7\n"}, "value: expected an integer as decimal text"),
        ({"uuid": "../etc"}, "uuid: expected a UUID"),
        ({"kind": "abacus"}, "kind: expected a device of kind cpu or cuda"),
        ({"at": "soon"}, "at: expected a time, got 'soon'"),
        ({"at": 7}, "at: expected a short text"),
        ({"small": [1, 0]}, "small[1]: expected an integer >= 1"),
        ({"more": 1}, "object contains unknown field more"),
        ({"more\n\x1b[2J" + "x" * 500: 1}, "object contains unknown field more??[2J" + "x" * 161),
    ],
)
def test_what_is_refused_is_named_in_one_line(form: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadMessage) as of_document:
        converted(form, Form)
    with pytest.raises(BadMessage) as of_text:
        decoded(json.dumps(form).encode(), Form)
    assert str(of_document.value) == str(of_text.value) == reason


@pytest.mark.parametrize("text", ["", "[]", "{", "7", "NaN", '{"text": "\\ud800"}', "[" * 10_000, '{"task": 1} x'])
def test_what_is_no_object_of_json_is_refused(text: str) -> None:
    with pytest.raises(BadMessage):
        decoded(text.encode(), Form)


@pytest.mark.parametrize("digits", [5_000, 60_000])
def test_no_time_is_spent_on_long_numbers(digits: int) -> None:
    for field in ("task", "work"):
        with pytest.raises(BadMessage, match=f"{field}: .*out of range"):
            decoded(b'{"%s": %s}' % (field.encode(), b"9" * digits), Form)


def test_half_a_character_and_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(BadMessage, match="unpaired"):
        converted({"text": "\ud800"}, Form)
    with pytest.raises(BadMessage):
        decoded(b'{"text": "f\xe4r"}', Form)


@pytest.mark.parametrize("name", ["\n\x1b[2Jlangford: all is well", "\u202e", "x" * 60_000, "x - at `$.y" * 9_000])
@pytest.mark.parametrize("before", ["", "a - at `$", "a - at `$.", "`"])
def test_the_name_of_an_unknown_field_cannot_forge_lines(name: str, before: str) -> None:
    """The name may look like the end of the error that quotes it."""
    for kind in (Form, MachineLine):
        with pytest.raises(BadMessage) as refused:
            decoded(json.dumps({before + name: 1}).encode(), kind)
        assert str(refused.value).isprintable()
        assert len(str(refused.value)) <= 400


# -- a status, which clients read --------------------------------------------------------------


@pytest.mark.parametrize("name", [field.name for field in fields(Overview)])
def test_a_document_has_every_field_and_none_of_another_type(name: str) -> None:
    document = document_of(OVERVIEW)
    with pytest.raises(BadMessage):
        converted({key: value for key, value in document.items() if key != name}, Overview)
    with pytest.raises(BadMessage):
        converted({**document, name: [[]]}, Overview)


@pytest.mark.parametrize(
    "change",
    [
        {"created": "9" * 50},
        {"events": [{"at": "2001-09-09T01:46:40Z", "kind": "created", "text": "\0"}]},
        {"count": "9" * 1_001},
        {"now": "yesterday"},
        {"count": "-1"},
        {"count": "٣"},
        {"speed": {"now": "fast"}},
        {"warnings": [{"kind": "fire", "text": ""}]},
    ],
)
def test_other_documents_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadMessage):
        converted(document_of(OVERVIEW) | change, Overview)
