"""Forms of messages: what they refuse, and that one line names the field."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from typing import Annotated

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


class Form(forms.FileLine, frozen=True, kw_only=True):
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
