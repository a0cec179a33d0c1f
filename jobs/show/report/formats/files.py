"""The files of a report: a page of HTML, its figures as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jobs.show.report.gathering import Evidence
from langford.errors import BadInput, NotInstalled
from langford.machine.durable import replace_file
from langford.machine.outputs import marked, require_replaceable
from langford.version import install

REPORT = marked("a report", "report")


def require_place(file: Path) -> None:
    """Raises BadInput unless the file's name is that of a page, NotReplaceable or OSError."""
    if file.suffix.lower() != ".html":
        raise BadInput(f"{file.name}: end the name of the report in .html; a browser prints the page, also to PDF")
    require_replaceable(file, REPORT)


def write(evidence: Evidence, file: Path) -> None:
    """Write the page.  Raises as :func:`require_place`, and NotInstalled."""
    require_place(file)
    with _installed():
        from jobs.show.report.formats.html import page
    replace_file(file, page(evidence).encode(), REPORT)


def write_figures(evidence: Evidence, folder: Path) -> list[Path]:
    """Write the figures into a folder, which is made unless it is there; returns the files.

    Raises NotInstalled.
    """
    with _installed():
        from jobs.show.report.formats.svg import standing_alone
    folder.mkdir(exist_ok=True)
    files = []
    for name in evidence.figures:
        files.append(folder / f"{name}.svg")
        replace_file(files[-1], standing_alone(name, evidence), REPORT)
    return files


@contextmanager
def _installed() -> Iterator[None]:
    """A context for imports of modules of this room that need the extra; raises NotInstalled."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise NotInstalled(f"a report needs {error.name}: {install('report')}") from error
