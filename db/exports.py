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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from db.errors import BadExport, CampaignMismatch, ConflictingResults
from langford.errors import LangfordError
from langford.methods import PlanKey
from langford.problem import Problem
from langford.result import Evaluation, PartialResult

FORMAT = "langford results 1"


@dataclass(frozen=True)
class Export:
    """Results of one campaign.

    Attributes:
        name: the campaign's.
        key: its plan: problem, method and depth.
        tasks: number of tasks it has in all.
        results: those that are done, each with time and provenance.
    """

    name: str
    key: PlanKey
    tasks: int
    results: tuple[Evaluation, ...]

    def to_bytes(self) -> bytes:
        """The file's content."""
        sources = sorted({each.provenance for each in self.results})
        numbers = {source: number for number, source in enumerate(sources)}
        documents: list[dict[str, object]] = [
            {
                "format": FORMAT,
                "campaign": self.name,
                "problem": self.key.problem.name,
                "method": self.key.method,
                "depth": self.key.depth,
                "tasks": self.tasks,
                "sources": len(sources),
                "results": len(self.results),
            }
        ]
        documents += ({"source": source} for source in sources)
        documents += (
            {
                "task": each.result.index,
                **each.result.to_text(),
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
                PartialResult.from_text(
                    document["task"], document["value"], document["residue"], document["evaluated"]
                ),
                document["seconds"],
                sources[document["source"]],
            )
            for document in documents[header["sources"] :]
        )
        key = PlanKey(Problem.parse(header["problem"]), header["method"], header["depth"])
        return Export(header["campaign"], key, header["tasks"], results)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise BadExport(f"{file} is no export of langford ({error!r})") from error
    except BadExport:
        raise
    except LangfordError as error:
        raise BadExport(f"{file}: {error}") from error


def joined(exports: Sequence[Export]) -> Export:
    """The exports of one campaign as one; raises CampaignMismatch or ConflictingResults."""
    first = exports[0]
    by_task: dict[int, Evaluation] = {}
    for export in exports:
        if (export.key, export.tasks) != (first.key, first.tasks):
            raise CampaignMismatch(
                f"{export.name} is {export.key}, {first.name} is {first.key}: join exports of one campaign"
            )
        for evaluation in export.results:
            _add(by_task, evaluation)
    return Export(first.name, first.key, first.tasks, tuple(by_task.values()))


def _add(by_task: dict[int, Evaluation], evaluation: Evaluation) -> None:
    result = evaluation.result
    known = by_task.setdefault(result.index, evaluation).result
    if known != result:
        raise ConflictingResults(
            f"task {result.index} is {known.value} in one export and {result.value} in another: evaluate it again"
        )
