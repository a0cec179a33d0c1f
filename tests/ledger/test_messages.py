"""Forms of messages: what they refuse, and that one line names the field."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from typing import Annotated, Any

import pytest
from msgspec import Meta

from db.files import forms
from db.files.forms import MachineLine
from db.identity import Identity
from db.machines import Machine, slurm_name
from db.messages import (
    BadMessage,
    Count,
    DeviceKind,
    Digits,
    Real,
    Text,
    Time,
    Uuid,
    converted,
    decoded,
    document,
    problem,
)
from langford.errors import LangfordError


class Form(forms.Form, frozen=True, kw_only=True):
    """One field of each type."""

    task: Count = 0
    work: Real = 0.0
    text: Text = ""
    value: Digits = "0"
    uuid: Uuid = "00000000-0000-0000-0000-000000000000"
    kind: DeviceKind = "cpu"
    at: Time = Time(0)
    small: tuple[Annotated[int, Meta(ge=1)], ...] = ()


MACHINE = {
    "host": "node-7", "device_kind": "cuda", "cores": 8, "processes": None, "device_model": "H200",
    "slurm_job": "12", "slurm_index": 3,
}  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "reason"),
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
def test_what_is_refused_is_named_in_one_line(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadMessage) as of_document:
        converted(fields, Form)
    with pytest.raises(BadMessage) as of_text:
        decoded(json.dumps(fields).encode(), Form)
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


def test_a_message_comes_back_from_its_document() -> None:
    form = Form(task=2**62, work=2.5, value="9" * 200, at=Time(1e9), small=(1,))
    assert document(form)["at"] == "2001-09-09T01:46:40Z"
    assert converted(document(form), Form) == form
    assert decoded(json.dumps(document(form)).encode(), Form) == form


THREADS = """
import sys
from threading import Barrier, Thread
from msgspec import defstruct
from db.messages import Message, converted, decoded

def nested(kind, depth):
    form = {"bases": (Message,), "kw_only": True, "frozen": True, "forbid_unknown_fields": True}
    return kind if not depth else defstruct("Nested", [("below", nested(kind, depth - 1))], **form)

def read():
    for number, kind in enumerate(kinds):
        barrier.wait()
        if number % 2:
            decoded(b'{"below": ' * 8 + b"1" + b"}" * 8, kind)
        else:
            value = 1
            for _ in range(8):
                value = {"below": value}
            converted(value, kind)

sys.setswitchinterval(1e-6)
kinds, barrier = [nested(int, 8) for _ in range(100)], Barrier(8)
threads = [Thread(target=read) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_threads_read_a_type_for_the_first_time_at_once() -> None:
    """msgspec alone crashes the process."""
    ended = subprocess.run([sys.executable, "-c", THREADS], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_machine_is_printable() -> None:
    line = converted(MACHINE, MachineLine)
    assert document(line) == MACHINE
    machine = Machine.of(line)
    assert slurm_name(machine.slurm_job, machine.slurm_index) == "12_3"
    assert machine == Machine("node-7", "cuda", **machine.equipment)
    for field in ("host", "device_model", "slurm_job"):
        with pytest.raises(BadMessage, match=f"{field}: expected at most [0-9]+ printable characters"):
            converted({**MACHINE, field: "x" * 256}, MachineLine)
        with pytest.raises(BadMessage, match=f"{field}: expected at most [0-9]+ printable characters"):
            converted({**MACHINE, field: "a\x1b[2J"}, MachineLine)


def test_a_worker_that_enrols_takes_little_room() -> None:
    """With 255 letters of four bytes an enrolment took 8 kB of the ledger, now at most 2."""
    enrolling = {**MACHINE, "worker": str(uuid.uuid4()), "process": "1", "kernels": "ab"}
    assert converted(enrolling, Identity).host == MACHINE["host"]
    for field in ("host", "device_model"):
        with pytest.raises(BadMessage, match=f"{field}: expected at most 255 bytes"):
            converted({**enrolling, field: "𝕏" * 64}, Identity)


@pytest.mark.parametrize("name", ["langford-99999", "langford-٧", "langford-007", "langford-300", "chess-8"])
def test_problems_that_nobody_counts_are_refused(name: str) -> None:
    with pytest.raises(LangfordError):
        problem(name)


@pytest.mark.parametrize("name", ["\n\x1b[2Jlangford: all is well", "\u202e", "x" * 60_000, "x - at `$.y" * 9_000])
@pytest.mark.parametrize("before", ["", "a - at `$", "a - at `$.", "`"])
def test_the_name_of_an_unknown_field_cannot_forge_lines(name: str, before: str) -> None:
    """The name may look like the end of the error that quotes it."""
    for kind in (Form, MachineLine):
        with pytest.raises(BadMessage) as refused:
            decoded(json.dumps({before + name: 1}).encode(), kind)
        assert str(refused.value).isprintable()
        assert len(str(refused.value)) <= 400
