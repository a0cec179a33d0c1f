"""The files of a report: a page of HTML, pages of PDF, its figures as SVG."""

from __future__ import annotations

from pathlib import Path

from jobs.show.report.gathering import Evidence
from langford.errors import BadInput, NotInstalled
from langford.loading import load
from langford.machine.durable import replace_file
from langford.version import install

FORMATS = (".html", ".pdf")


def require_format(file: Path) -> None:
    """Raises BadInput unless the end of the file's name is that of a format."""
    if file.suffix.lower() not in FORMATS:
        raise BadInput(f"{file.name}: end the name of the report in {' or '.join(FORMATS)}")


def write(evidence: Evidence, file: Path) -> None:
    """In the format of the suffix; raises BadInput or NotInstalled."""
    require_format(file)
    try:
        if file.suffix.lower() == ".pdf":
            content: bytes = load("jobs.show.report.formats.pdf:content")(evidence)
        else:
            content = load("jobs.show.report.formats.html:page")(evidence).encode()
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    replace_file(file, content)


def write_figures(evidence: Evidence, folder: Path) -> list[Path]:
    """Write the figures into a folder, which is made unless it is there; returns the files.

    Raises NotInstalled.
    """
    try:
        drawn = load("jobs.show.report.formats.svg:standing_alone")
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    folder.mkdir(exist_ok=True)
    files = []
    for name in evidence.figures:
        files.append(folder / f"{name}.svg")
        replace_file(files[-1], drawn(name, evidence))
    return files


def _missing(error: ModuleNotFoundError) -> NotInstalled:
    return NotInstalled(f"a report needs {error.name}: {install('report')}")
