"""The lines of a file of results, each a JSON object of one of these forms, see :mod:`db.files.exports`.

In the order of the fields they are written.  A field that is missing has its default, and is not written with it.
An unknown field is refused: whoever adds one raises the format, since a reader that ignored it would check less
than the file says.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from db.machines import DeviceModel, HostName, SlurmJob
from db.messages import (
    DIGEST,
    STORABLE,
    Count,
    DeviceKind,
    Digits,
    Message,
    Number,
    ProblemName,
    Real,
    Seconds,
    Share,
    Text,
)
from langford.methods import MAX_SEED

FORMAT = "langford results 1"
WITH_PROMISE = "langford results 2"
"""The format of a file that states a promise: that of nothing, or of 1.x."""
WITH_DRAW = "langford results 3"
"""The format of a file that names the draw of its promise."""
FORMATS = FORMAT, WITH_PROMISE, WITH_DRAW
Hex = Annotated[str, Meta(pattern=DIGEST)]
MAX_TASKS = 2_000_000
MAX_DEPTH = 1_000


class AnyHeader(Struct, frozen=True):
    """A header of any format: the first line, which is read before it is known what else it has."""

    format: Any = None


class FileLine(Message, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of a file."""


class Header(FileLine, frozen=True, kw_only=True, omit_defaults=True):
    format: Text
    # campaign, problem, method, depth, seed, tasks: of the campaign
    campaign: Text
    problem: ProblemName
    method: Annotated[str, Meta(max_length=40, pattern=STORABLE)]
    depth: Annotated[int, Meta(ge=0, le=MAX_DEPTH)]
    seed: Annotated[int, Meta(ge=0, le=MAX_SEED)] = 0
    tasks: Annotated[int, Meta(ge=0, le=MAX_TASKS)]
    promise: Share | UnsetType = UNSET  # the promised share, in WITH_PROMISE and WITH_DRAW only
    voters: Count | UnsetType = UNSET  # how many voters its results name
    # draw, secret: see db.files.promise.Promise; in WITH_DRAW only
    draw: Hex | UnsetType = UNSET
    secret: Hex | UnsetType = UNSET
    sources: Count
    workers: Count = 0
    results: Count

    def __post_init__(self) -> None:
        if self.format != FORMAT and self.promise is UNSET:
            raise ValueError("object missing required field promise")
        if self.format == FORMAT and not (self.promise is UNSET and self.voters is UNSET):
            raise ValueError(f"a promise is stated in {FORMAT!r}")
        if (self.format == WITH_DRAW) == (self.draw is UNSET) or (self.draw is UNSET and self.secret is not UNSET):
            raise ValueError(f"a draw is named in {WITH_DRAW!r} only, and always")
        voters = 0 if self.voters is UNSET else self.voters
        if self.results > self.tasks or max(self.sources, self.workers, voters / 2) > self.results:
            raise ValueError("it has more results than tasks, or more sources, workers or voters than its results")


class Source(FileLine, frozen=True, kw_only=True):
    source: Text


class MachineLine(FileLine, frozen=True, kw_only=True):
    """A machine that the results name, see :class:`db.machines.Machine`."""

    host: HostName
    device_kind: DeviceKind
    cores: Number | None
    processes: Number | None
    device_model: DeviceModel | None
    slurm_job: SlurmJob | None
    slurm_index: Number | None


class Line(FileLine, frozen=True, kw_only=True, omit_defaults=True):
    task: Count
    # value, residue, evaluated: see langford.result.PartialResult
    value: Digits
    residue: Digits
    evaluated: Digits
    seconds: Seconds
    source: Count
    # worker, granted, began, ended: see db.records.Computation; all of them, or none
    worker: Count | UnsetType = UNSET
    granted: Real | UnsetType = UNSET
    began: Real | UnsetType | None = UNSET
    ended: Real | UnsetType = UNSET
    drawn: bool | UnsetType = UNSET  # whether it was drawn: true, or missing
    decided: bool | UnsetType = UNSET  # whether the operator decided: true, or missing
    # voter, confirmed_by: numbers of the voter of the result and of the voter that confirmed it: both, or none
    voter: Count | UnsetType = UNSET
    confirmed_by: Count | UnsetType = UNSET

    def __post_init__(self) -> None:
        if False in (self.drawn, self.decided):
            raise ValueError("expected that drawn and decided are true, or missing")
        if len({field is UNSET for field in (self.worker, self.granted, self.began, self.ended)}) > 1:
            raise ValueError("expected worker, granted, began and ended, or none of them")
        if (self.voter is UNSET) != (self.confirmed_by is UNSET):
            raise ValueError("expected voter and confirmed_by, or none of them")
        if self.voter is not UNSET and self.decided is not UNSET:
            raise ValueError("it was confirmed by a voter and decided by the operator")
        if self.voter is not UNSET and self.voter == self.confirmed_by:
            raise ValueError("its voter confirms itself")

    @property
    def history(self) -> tuple[int, float, float | None, float] | None:
        """(worker, granted, began, ended); None when it has none of them."""
        if self.worker is UNSET or self.granted is UNSET or self.began is UNSET or self.ended is UNSET:
            return None
        return self.worker, self.granted, self.began, self.ended

    @property
    def by_voters(self) -> tuple[int, int] | None:
        """(voter, confirmed_by); None when it has none of them."""
        if self.voter is UNSET or self.confirmed_by is UNSET:
            return None
        return self.voter, self.confirmed_by

    @property
    def has_promise(self) -> bool:
        """Whether it says something that needs a promise."""
        return any(field is not UNSET for field in (self.drawn, self.decided, self.voter))


class Seal(FileLine, frozen=True, kw_only=True):
    sha256: Text
