"""Files of results that strangers may have written are read line by line, and each line is checked before the next.

Time and memory are bounded, whatever the file contains.
"""

from __future__ import annotations

import hashlib
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from db.errors import BadExport, CampaignMismatch
from db.files.exports import Export
from db.files.forms import FORMATS, AnyHeader, Header, Line, MachineLine, Seal, Source
from db.files.promise import PromiseReader
from db.files.writing import MAX_SOURCES
from db.machines import Machine
from db.messages import BadMessage, decoded, measurable, problem
from db.records import Computation
from db.states import require_name
from langford.errors import LangfordError, MethodDoesNotApply
from langford.methods import Plan, PlanKey, find_method, plan_of
from langford.result import Evaluation, PartialResult
from langford.words import several

STANDARD_INPUT = Path("-")
BLOCK = 64 * 1024
MAX_LINE = 64 * 1024
T = TypeVar("T")


def agreed_plan(name: str, key: PlanKey, tasks: int) -> Plan:
    """The plan of a campaign with this number of tasks; no large plan is made for few tasks.

    Raises CampaignMismatch when this version has no such method or splits the problem in another way, or BadDepth.
    """
    try:
        method = find_method(key.method, key.problem)
    except MethodDoesNotApply as error:
        raise CampaignMismatch(
            f"this version cannot count {name} ({error}): use the version that created it"
        ) from error
    fewest = method.fewest_tasks(key.problem, key.depth) if key.depth in method.depths(key.problem) else 0
    plan = plan_of(key) if fewest <= tasks else None
    if plan is None or len(plan.work) != tasks:
        split = f"{several(fewest, 'task')} or more" if plan is None else several(len(plan.work), "task")
        raise CampaignMismatch(
            f"{name} was split into {several(tasks, 'task')}, this version splits it into {split}: "
            "use the version that created it"
        )
    return plan


def in_words(file: Path) -> str:
    return "standard input" if file == STANDARD_INPUT else str(file)


def read_export(file: Path) -> Export:
    """The export in a file; raises BadExport when it is missing, damaged, cut short or something else.

    ``file``: its name, or :data:`STANDARD_INPUT`.
    """
    name = in_words(file)
    try:
        with nullcontext(sys.stdin.buffer) if file == STANDARD_INPUT else file.open("rb") as stream:
            return _export(_LineReader(stream))
    except FileNotFoundError as error:
        raise BadExport(f"there is no export {name}: check its name, or write it with `langford export`") from error
    except (OSError, EOFError, zlib.error) as error:
        raise BadExport(f"{name} is not an export, or is truncated ({error}): get it again") from error
    except (ValueError, LangfordError) as error:
        raise BadExport(
            f"{name} cannot be read ({error}): get it again, or use the version that wrote it"
        ) from error


def _export(lines: _LineReader) -> Export:
    """Raises BadMessage, or what says that its campaign cannot be."""
    header = _header(lines)
    name = require_name(header.campaign)
    key = PlanKey(problem(header.problem), header.method, header.depth, header.seed)
    sources = _sources(lines, header.sources)
    agreed_plan(name, key, header.tasks)
    machines = [Machine.of(lines.read(MachineLine)) for _ in range(header.workers)]
    promised = PromiseReader(header)
    computations: dict[int, Computation] = {}
    evaluations = tuple(_evaluations(lines, header, sources, machines, computations, promised))
    promise = promised.promise()
    checksum = lines.digest.hexdigest()
    if lines.read(Seal).sha256 != checksum:
        raise BadMessage("it does not match its checksum: it was changed or damaged")
    lines.require_end()
    return Export(name, key, header.tasks, evaluations, computations, promise, lines.of_file.hexdigest())


def _header(lines: _LineReader) -> Header:
    line = lines.next()
    form = decoded(line, AnyHeader).format
    if form not in (*FORMATS, None):
        raise BadMessage(f"its format is {form!r:.60}, this version reads {FORMATS[0]!r} to {FORMATS[-1]!r}")
    return decoded(line, Header)


def _sources(lines: _LineReader, count: int) -> list[str]:
    sources, length = [], 0
    for _ in range(count):
        source = lines.read(Source).source
        length += len(source)
        if length > MAX_SOURCES:
            raise BadMessage(f"its provenances have more than {MAX_SOURCES} characters")
        sources.append(source)
    return sources


def _evaluations(
    lines: _LineReader,
    header: Header,
    sources: Sequence[str],
    machines: Sequence[Machine],
    computations: dict[int, Computation],
    promised: PromiseReader,
) -> Iterator[Evaluation]:
    """Adds their computations to ``computations``, and their promises to ``promised``."""
    seen = bytearray(header.tasks)
    for _ in range(header.results):
        line = lines.read(Line)
        if line.task >= header.tasks:
            raise BadMessage(f"task: expected an integer < {header.tasks}, got {line.task}")
        if seen[line.task]:
            raise BadMessage(f"it has two results of task {line.task}")
        seen[line.task] = True
        result = PartialResult.from_text(line.task, line.value, line.residue, line.evaluated)
        source = _of("source", sources, line.source)
        began = None
        if line.history is not None:
            worker, granted, began, ended = line.history
            if not granted <= (granted if began is None else began) <= ended:
                raise BadMessage("a result has a history that goes backwards")
            computations[line.task] = Computation(worker, _of("worker", machines, worker), granted, began, ended)
        promised.read(line)
        yield Evaluation(result, measurable(line.seconds), source, began)


def _of(field: str, entries: Sequence[T], number: int) -> T:
    """Raises BadMessage."""
    if number >= len(entries):
        raise BadMessage(f"{field}: expected an integer < {len(entries)}, got {number}")
    return entries[number]


class _LineReader:
    """The lines of a file of gzipped JSON.

    Attributes:
        digest: SHA-256 of the lines that were read.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.digest = hashlib.sha256()
        self.of_file = hashlib.sha256()
        self._lines = _lines(stream, self.of_file)
        self._number = 0

    def next(self) -> bytes:
        """Raises BadMessage."""
        line = next(self._lines, None)
        if line is None:
            raise BadMessage("it ends too early")
        self.digest.update(line)
        self.digest.update(b"\n")
        self._number += 1
        return line

    def read(self, form: type[T]) -> T:
        line = self.next()
        try:
            return decoded(line, form)
        except BadMessage as error:
            raise BadMessage(f"line {self._number}: {error}") from error

    def require_end(self) -> None:
        """Raises BadMessage when there is another line."""
        if next(self._lines, None) is not None:
            raise BadMessage("it continues after its checksum")


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
        if len(rest) > MAX_LINE or any(len(line) > MAX_LINE for line in lines):
            raise BadMessage(f"it has a line of more than {MAX_LINE} bytes")
        yield from lines
    if rest or gzip.unused_data or stream.read(1):
        raise BadMessage("it continues after its last line")
