"""Exports as bytes (:mod:`db.files.exports`), without the results of a campaign in memory."""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from msgspec import Struct

from db import messages
from db.files.forms import FORMAT, WITH_DRAW, WITH_PROMISE, Header, Line, MachineLine, Seal, Source
from db.files.promise import Promise
from db.machines import Machine
from db.records import Computation
from langford.methods import PlanKey
from langford.result import Evaluation

MAX_SOURCES = 16 * 2**20
"""Maximum number of characters of the provenances of one file."""
GZIP = 31
"""The format of gzip, in zlib's numbers."""
Evaluated = tuple[Evaluation, Computation | None]
"""A result, and when and where it was computed; None: unknown."""


@dataclass(frozen=True)
class TrustedFile:
    """An export of the results that are not in doubt; ``left_out``: the tasks whose results are."""

    content: bytes
    tasks: tuple[int, ...]  # whose results it has
    promise: Promise | None
    left_out: tuple[int, ...]


@dataclass(frozen=True)
class Contents:
    """What comes before the results in a file."""

    results: int
    sources: Collection[str]  # the different provenances
    machines: Sequence[Machine]  # of the workers, in the order in which the results name them

    @classmethod
    def of(cls, results: Iterable[Evaluated]) -> Self:
        sources: set[str] = set()
        machines: dict[int, Machine] = {}
        number = 0
        for evaluation, computation in results:
            number += 1
            sources.add(evaluation.provenance)
            if computation is not None:
                machines.setdefault(computation.worker, computation.machine)
        return cls(number, sources, list(machines.values()))


def written(
    name: str, key: PlanKey, tasks: int, promise: Promise | None, contents: Contents, results: Iterable[Evaluated]
) -> bytes:
    """The content of a file of results; ``results`` are by task, and read once.

    If the provenances are too long together, all are cut to the same length.
    """
    sources = contents.sources
    cut = MAX_SOURCES // len(sources) if sum(map(len, sources)) > MAX_SOURCES else None
    numbers = {source: place for place, source in enumerate(sorted({source[:cut] for source in sources}))}
    workers: dict[int, int] = {}
    promise = None if promise is None else promise.renumbered()
    header = Header(
        format=FORMAT if promise is None else WITH_DRAW if promise.draw else WITH_PROMISE,
        campaign=name,
        problem=key.problem.name,
        method=key.method,
        depth=key.depth,
        seed=key.seed,
        tasks=tasks,
        sources=len(numbers),
        workers=len(contents.machines),
        results=contents.results,
        **({} if promise is None else promise.header()),
    )

    def forms() -> Iterator[Struct]:
        yield header
        for source in numbers:
            yield Source(source=source)
        for machine in contents.machines:
            yield MachineLine(**asdict(machine))
        for evaluation, computation in results:
            result = evaluation.result
            yield Line(
                task=result.index,
                value=str(result.value),
                residue=str(result.residue),
                evaluated=str(result.evaluated),
                seconds=round(evaluation.seconds, 6),
                source=numbers[evaluation.provenance[:cut]],
                **_history(computation, workers),
                **({} if promise is None else promise.fields(result.index)),
            )

    return _sealed(forms())


def _sealed(forms: Iterable[Struct]) -> bytes:
    content, digest = io.BytesIO(), hashlib.sha256()
    stream = zlib.compressobj(9, wbits=GZIP)  # the bytes of gzip.compress without a time
    for form in forms:
        line = _line(form)
        digest.update(line)
        content.write(stream.compress(line))
    content.write(stream.compress(_line(Seal(sha256=digest.hexdigest()))))
    content.write(stream.flush())
    return content.getvalue()


def _line(form: Struct) -> bytes:
    return json.dumps(messages.document(form)).encode() + b"\n"


def _history(computation: Computation | None, workers: dict[int, int]) -> dict[str, Any]:
    """``workers``: the numbers of those that were named before."""
    if computation is None:
        return {}
    times = {"granted": computation.granted, "began": computation.began, "ended": computation.ended}
    return {
        "worker": workers.setdefault(computation.worker, len(workers)),
        **{name: None if at is None else round(at, 3) for name, at in times.items()},
    }
