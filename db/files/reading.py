"""Files of results that strangers may have written, read line by line: each line is checked before the next one.

Time and memory are bounded whatever the file holds.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from db.errors import BadExport, CampaignMismatch
from db.files.exports import FORMAT, LONGEST_SOURCES, WITH_PROMISE, Export
from db.files.fields import (
    EQUIPMENT,
    LONGEST_HOST,
    BadMessage,
    device_kind,
    equipment,
    exactly,
    integer,
    or_none,
    printable,
    problem,
    real,
    seconds,
    text,
)
from db.files.promise import PromiseReader
from db.names import require_name
from db.records import Computation, Machine
from langford.errors import LangfordError
from langford.methods import LARGEST_SEED, Plan, PlanKey, find_method, plan_of
from langford.result import Evaluation, PartialResult

BLOCK = 64 * 1024
LONGEST_LINE = 64 * 1024
MOST_TASKS = 2_000_000
DEEPEST = 1_000
HISTORY = ("worker", "granted", "began", "ended")
"""Fields of a result that tell how it came to be: all of them, or none."""


def agreed_plan(name: str, key: PlanKey, tasks: int) -> Plan:
    """The plan of a campaign of so many tasks; no large plan is made for few tasks.

    Raises CampaignMismatch when this version splits the problem in another way, MethodDoesNotApply or BadDepth.
    """
    method = find_method(key.method, key.problem)
    fewest = method.fewest_tasks(key.problem, key.depth) if key.depth in method.depths(key.problem) else 0
    plan = plan_of(key) if fewest <= tasks else None
    if plan is None or len(plan.work) != tasks:
        split = f"{fewest} tasks or more" if plan is None else f"{len(plan.work)}"
        raise CampaignMismatch(
            f"{name} was split into {tasks} tasks, this version splits it into {split}: "
            "use the version that created it"
        )
    return plan


def read_export(file: Path) -> Export:
    """The export in a file; raises BadExport when it is missing, damaged, cut short or something else."""
    try:
        with file.open("rb") as stream:
            return _export(_Documents(stream))
    except FileNotFoundError as error:
        raise BadExport(f"there is no export {file}: check its name, or write it with `langford export`") from error
    except (OSError, EOFError, zlib.error) as error:
        raise BadExport(f"{file} is not an export, or is cut short ({error}): get it again") from error
    except (ValueError, RecursionError, LangfordError) as error:
        raise BadExport(
            f"{file} cannot be read ({error}): get it again, or use the version that wrote it"
        ) from error


def _export(documents: _Documents) -> Export:
    """The export in these documents; raises BadMessage, or what says that its campaign cannot be."""
    header = documents.read()
    form = header.get("format") if isinstance(header, dict) else FORMAT
    if form not in (FORMAT, WITH_PROMISE):
        raise BadMessage(f"its format is {form!r:.60}, this version reads {FORMAT!r} and {WITH_PROMISE!r}")
    names = ["format", "campaign", "problem", "method", "depth", "tasks", "sources", "results"]
    optional = ["seed", "workers"]
    if form == WITH_PROMISE:
        names, optional = [*names, "promise"], [*optional, "voters"]
    fields = exactly(header, *names, optional=optional)
    name = require_name(text(fields["campaign"]))
    key = PlanKey(
        problem(fields["problem"]),
        text(fields["method"], 40),
        integer(fields["depth"], 0, DEEPEST),
        integer(fields.get("seed", 0), 0, LARGEST_SEED),
    )
    tasks = integer(fields["tasks"], 0, MOST_TASKS)
    results = integer(fields["results"], 0, tasks)
    sources = _sources(documents, integer(fields["sources"], 0, results))
    promised = PromiseReader(fields, results) if form == WITH_PROMISE else None
    agreed_plan(name, key, tasks)
    machines = _machines(documents, integer(fields.get("workers", 0), 0, results))
    computations: dict[int, Computation] = {}
    evaluations = tuple(_evaluations(documents, results, tasks, sources, machines, computations, promised))
    promise = None if promised is None else promised.promise()
    checksum = documents.digest.hexdigest()
    if exactly(documents.read(), "sha256")["sha256"] != checksum:
        raise BadMessage("it does not match its checksum: it was changed or damaged")
    documents.require_end()
    return Export(name, key, tasks, evaluations, computations, promise, documents.of_file.hexdigest())


def _sources(documents: _Documents, count: int) -> list[str]:
    sources, length = [], 0
    for _ in range(count):
        source = text(exactly(documents.read(), "source")["source"])
        length += len(source)
        if length > LONGEST_SOURCES:
            raise BadMessage(f"its provenances have more than {LONGEST_SOURCES} characters")
        sources.append(source)
    return sources


def _machines(documents: _Documents, count: int) -> list[Machine]:
    machines = []
    for number in range(count):
        fields = exactly(documents.read(), "host", "device_kind", *EQUIPMENT)
        host, kind = printable(fields["host"], LONGEST_HOST), device_kind(fields["device_kind"])
        machines.append(Machine(number, host, kind, equipment(fields)))
    return machines


def _computation(fields: dict[str, Any], machines: list[Machine]) -> Computation:
    """How a result came to be; raises BadMessage."""
    machine = machines[integer(fields["worker"], 0, len(machines) - 1)]
    granted, ended = real(fields["granted"]), real(fields["ended"])
    began = or_none(fields["began"], real)
    if not granted <= (granted if began is None else began) <= ended:
        raise BadMessage("a result has a history that goes backwards")
    return Computation(machine, granted, began, ended)


def _evaluations(
    documents: _Documents,
    count: int,
    tasks: int,
    sources: list[str],
    machines: list[Machine],
    computations: dict[int, Computation],
    promised: PromiseReader | None,
) -> Iterator[Evaluation]:
    """The results; ``computations`` gets the computation of each that has one, ``promised`` who confirmed it."""
    seen = bytearray(tasks)
    for _ in range(count):
        document = documents.read()
        told = HISTORY if isinstance(document, dict) and "worker" in document else ()
        names = "task", "value", "residue", "evaluated", "seconds", "source", *told
        fields = exactly(document, *names) if promised is None else promised.exactly(document, *names)
        index = integer(fields["task"], 0, tasks - 1)
        if seen[index]:
            raise BadMessage(f"it has two results of task {index}")
        seen[index] = True
        result = PartialResult.from_text(index, fields["value"], fields["residue"], fields["evaluated"])
        source = sources[integer(fields["source"], 0, len(sources) - 1)]
        if told:
            computations[index] = _computation(fields, machines)
        if promised is not None:
            promised.read(index, fields)
        yield Evaluation(result, seconds(fields["seconds"]), source, computations[index].began if told else None)


class _Documents:
    """The documents of a file of gzipped JSON, one per line.

    Attributes:
        digest: SHA-256 of the lines that were read.
        of_file: SHA-256 of the file, as far as it was read.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.digest = hashlib.sha256()
        self.of_file = hashlib.sha256()
        self._lines = _lines(stream, self.of_file)
        self._decoder = json.JSONDecoder(parse_constant=_no_number)

    def read(self) -> Any:
        """The next document; raises BadMessage or ValueError."""
        line = next(self._lines, None)
        if line is None:
            raise BadMessage("it ends too early")
        self.digest.update(line)
        self.digest.update(b"\n")
        return self._decoder.decode(line.decode())

    def require_end(self) -> None:
        """Raises BadMessage when there is another document."""
        if next(self._lines, None) is not None:
            raise BadMessage("it goes on after its checksum")


def _no_number(name: str) -> None:
    raise BadMessage(f"{name} is no number")


def _lines(stream: BinaryIO, digest: Any) -> Iterator[bytes]:
    """The lines of one gzip member, up to the end of the file; ``digest`` sees the file as it is."""
    gzip, rest = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS), b""
    while not gzip.eof:
        packed = gzip.unconsumed_tail
        if not packed:
            packed = stream.read(BLOCK)
            digest.update(packed)
        unpacked = gzip.decompress(packed, BLOCK)
        if not (packed or unpacked):
            raise EOFError("it ends too early")
        *lines, rest = (rest + unpacked).split(b"\n")
        if len(rest) > LONGEST_LINE or any(len(line) > LONGEST_LINE for line in lines):
            raise BadMessage(f"it has a line of more than {LONGEST_LINE} bytes")
        yield from lines
    if rest or gzip.unused_data or stream.read(1):
        raise BadMessage("it goes on after its last line")
