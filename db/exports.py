"""Results as files: what one ledger exports and another one takes.

An export is gzipped text, one JSON document per line: a header that names the campaign; the provenances,
each once; the results by task; and last the SHA-256 of all bytes before.  Equal results give equal bytes,
so that an export can be kept under version control.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from db.errors import BadExport, CampaignMismatch, ConflictingResults
from langford.errors import LangfordError
from langford.problem import Problem
from langford.result import Evaluation, PartialResult

FORMAT = "langford results 1"


@dataclass(frozen=True)
class Export:
    """Results of one campaign; ``tasks`` is the number of tasks it has in all."""

    campaign: str
    problem: Problem
    method: str
    depth: int
    tasks: int
    results: tuple[Evaluation, ...]

    def to_bytes(self) -> bytes:
        """The file's content."""
        sources = sorted({each.provenance for each in self.results})
        numbers = {source: number for number, source in enumerate(sources)}
        documents: list[dict[str, object]] = [
            {
                "format": FORMAT,
                "campaign": self.campaign,
                "problem": self.problem.name,
                "method": self.method,
                "depth": self.depth,
                "tasks": self.tasks,
                "sources": len(sources),
                "results": len(self.results),
            }
        ]
        documents += ({"source": source} for source in sources)
        documents += (
            {
                "task": each.result.index,
                "value": str(each.result.value),
                "residue": str(each.result.residue),
                "evaluated": str(each.result.evaluated),
                "seconds": round(each.seconds, 6),
                "source": numbers[each.provenance],
            }
            for each in sorted(self.results, key=lambda each: each.result.index)
        )
        body = "".join(json.dumps(document) + "\n" for document in documents).encode()
        seal = json.dumps({"sha256": hashlib.sha256(body).hexdigest()}) + "\n"
        return gzip.compress(body + seal.encode(), mtime=0)


def read_export(file: Path) -> Export:
    """The export in a file; raises BadExport when it is damaged, cut short or something else."""
    try:
        text = gzip.decompress(file.read_bytes())
    except FileNotFoundError as error:
        raise BadExport(f"there is no export {file}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise BadExport(f"{file} is no export, or is cut short ({error}): get it again") from error
    body, _, seal = text.rstrip(b"\n").rpartition(b"\n")
    try:
        sealed = json.loads(seal)["sha256"]
        header, *documents = map(json.loads, body.splitlines())
        if header["format"] != FORMAT:
            raise BadExport(f"{file} has the format {header['format']!r}, this version reads {FORMAT!r}")
        if hashlib.sha256(body + b"\n").hexdigest() != sealed:
            raise BadExport(f"{file} does not match its checksum: it was changed or damaged; get it again")
        sources = [document["source"] for document in documents[: header["sources"]]]
        results = tuple(
            Evaluation(
                PartialResult(
                    document["task"], int(document["value"]), int(document["residue"]), int(document["evaluated"])
                ),
                document["seconds"],
                sources[document["source"]],
            )
            for document in documents[header["sources"] :]
        )
        problem = Problem.parse(header["problem"])
        return Export(header["campaign"], problem, header["method"], header["depth"], header["tasks"], results)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise BadExport(f"{file} is no export of langford ({error!r})") from error
    except BadExport:
        raise
    except LangfordError as error:
        raise BadExport(f"{file}: {error}") from error


def joined(exports: Sequence[Export]) -> Export:
    """The exports of one campaign as one; raises CampaignMismatch or ConflictingResults."""
    first = exports[0]
    found: dict[int, Evaluation] = {}
    for each in exports:
        wanted = (first.problem, first.method, first.depth, first.tasks)
        if (each.problem, each.method, each.depth, each.tasks) != wanted:
            raise CampaignMismatch(
                f"{each.campaign} is {each.problem.name} by {each.method} at depth {each.depth}, "
                f"{first.campaign} is {first.problem.name} by {first.method} at depth {first.depth}: "
                "join exports of one campaign"
            )
        _add(found, each.results)
    return Export(first.campaign, first.problem, first.method, first.depth, first.tasks, tuple(found.values()))


def _add(found: dict[int, Evaluation], results: Iterable[Evaluation]) -> None:
    for each in results:
        known = found.setdefault(each.result.index, each)
        if known.result != each.result:
            raise ConflictingResults(
                f"task {each.result.index} is {known.result.value} in one export and {each.result.value} in "
                "another: evaluate it again"
            )
