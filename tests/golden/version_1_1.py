"""The forms of version 1.1, as it decodes them: what it refuses, this version may not write.

Nothing of this program is imported: these classes change only when another version becomes the one before.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Count = Annotated[int, Meta(ge=0, le=2**62)]
Number = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Real = Annotated[float, Meta(ge=0, lt=1e30)]
Seconds = Annotated[float, Meta(ge=0, le=1e10)]
Share = Annotated[float, Meta(ge=0, le=1)]
Text = Annotated[str, Meta(max_length=4_000)]
Digits = Annotated[str, Meta(max_length=200, pattern=r"\A-?[0-9]+\Z")]
Uuid = Annotated[str, Meta(pattern=r"\A[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")]


class Form(Struct, forbid_unknown_fields=True):
    pass


class Machine(Form):
    host: Text
    device_kind: Literal["cpu", "cuda"]
    cores: Number | None
    processes: Number | None
    device_model: Text | None
    slurm_job: Text | None
    slurm_index: Number | None


# -- the lines of a file ----------------------------------------------------------------------


class Header(Form):
    format: Literal["langford results 1", "langford results 2"]
    campaign: Text
    problem: Text
    method: Text
    depth: Count
    tasks: Count
    sources: Count
    results: Count
    seed: Count = 0
    workers: Count = 0
    promise: Share | UnsetType = UNSET
    voters: Count | UnsetType = UNSET


class Source(Form):
    source: Text


class Line(Form):
    task: Count
    value: Digits
    residue: Digits
    evaluated: Digits
    seconds: Seconds
    source: Count
    worker: Count | UnsetType = UNSET
    granted: Real | UnsetType = UNSET
    began: Real | UnsetType | None = UNSET
    ended: Real | UnsetType = UNSET
    drawn: bool | UnsetType = UNSET
    decided: bool | UnsetType = UNSET
    voter: Count | UnsetType = UNSET
    confirmed_by: Count | UnsetType = UNSET


class Seal(Form):
    sha256: Text


# -- messages ---------------------------------------------------------------------------------


class Credential(Form):
    attempt: Count
    nonce: Text


class Lease(Credential):
    index: Count
    work: Real
    copy: bool


class Delivery(Credential):
    index: Count
    value: Digits
    residue: Digits
    evaluated: Digits
    seconds: Seconds
    provenance: Text
    began: float | None


class Identity(Machine):
    worker: Uuid
    process: Text
    kernels: Text


class Departure(Form):
    worker: Uuid
    ending: Literal["finished", "preempted", "stopped", "replaced"]


class LeaseRequest(Form):
    campaign: Uuid
    worker: Text
    count: Count
    seconds: Real
    held: list[Count]
    copies: Count


class Renewal(Form):
    attempts: list[Credential]
    seconds: Real
    steps: list[tuple[Count, Count]]


class Results(Form):
    deliveries: list[Delivery]
    now: float


class Exchange(Form):
    results: Results
    lease: LeaseRequest


class Pace(Form):
    pace: Real | None


class Leases(Form):
    leases: list[Lease]


class Running(Form):
    running: list[Count]


class Receipt(Form):
    event: Literal["accepted", "confirmed", "conflict", "refused"]
    detail: Text


class Receipts(Form):
    receipts: list[Receipt]


class Exchanged(Receipts):
    leases: list[Lease]


class Done(Form):
    pass


class CampaignInfo(Form):
    ledger: Uuid
    campaign: Uuid
    name: Text
    problem: Text
    method: Text
    depth: Count
    seed: Count
    tasks: Count
    work: Real
    tasks_by_state: dict[Text, Count]
    work_by_state: dict[Text, Real]
    rechecks: Count
    rechecking: Count
    kernels: Text


OPERATIONS: dict[str, tuple[type[Form], type[Form]]] = {
    "workers": (Identity, Pace),
    "departures": (Departure, Done),
    "leases": (LeaseRequest, Leases),
    "renewals": (Renewal, Running),
    "results": (Results, Receipts),
    "exchanges": (Exchange, Exchanged),
}
"""The messages of workers: by the end of a path its request and its answer."""
