"""``langford report``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from db.errors import Unreplicated
from db.files.promise import document as promise_document
from jobs.show.report import content, gathering
from jobs.show.report.formats.files import require_place, write, write_figures
from jobs.show.report.gathering import Evidence
from langford.cli.campaigns.opening import campaign_meant
from langford.cli.exit_codes import ExitCode
from langford.cli.options.common import json_option, ledger_option, refuse_ledger_beside, unconfirmed_option
from langford.cli.options.groups import PROBLEM, problem_words
from langford.cli.output import display
from langford.cli.output.display import show
from langford.errors import BadInput
from langford.ledger import Ledger

exports_option = click.option(
    "--from",
    "exports",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Use exported results instead; repeat the option for the parts of one campaign.",
)


@click.command(
    epilog="""\b
Examples:
  langford report 28
  langford report langford-28-polyphase-16 -o report.html
  langford report langford-28-polyphase-16 --figures figures --ledger records.db
  langford report --from jobs/campaigns/langford-28-polyphase-16.jsonl.gz -o l28.html

The page needs no other file, no script and no network.  An unfinished campaign has a report too;
the report lists what an export lacks.  Exit codes: 0, 2 bad input, 3 all tasks are done, but the
promised replication (--replicate) is not, 4 the count is wrong; the report is written except with code 2."""
)
@problem_words(f"[{PROBLEM} | NAME]")
@ledger_option
@exports_option
@click.option(
    "--out",
    "-o",
    "file",
    type=click.Path(path_type=Path),
    help="A .html file; default: NAME.html, unless --figures is given.",
)
@click.option(
    "--figures",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write the figures to this folder, as .svg files.",
)
@unconfirmed_option
@json_option
@click.pass_context
def report(
    context: click.Context,
    words: tuple[str, ...],
    address: str,
    exports: tuple[Path, ...],
    file: Path | None,
    figures: Path | None,
    unconfirmed: bool,
    as_json: bool,
) -> None:
    """Write a report of a campaign as HTML: count, checks, times, figures and devices.

    The report covers speed, duration, workers, problems and what is proved.  The command also prints a paragraph
    that cites the count.
    """
    if file is not None:
        require_place(file)
    found = _evidence(words, address, exports, unconfirmed)
    if file is None and figures is None:
        file = Path(f"{found.history.name}.html")
    written = []
    if file is not None:
        write(found, file)
        written.append(file)
    if figures is not None:
        written += write_figures(found, figures)
    if as_json:
        display.print_json(_document(found, written))
    else:
        for each in written:
            show(f"{each}: {each.stat().st_size / 1000:,.0f} kB")
        cited = content.paragraph(found)
        if cited is not None:
            show(f"\n{cited}")
    if found.unreplicated:
        raise Unreplicated(found.pending)
    wrong = found.agreement is not None and found.agreement.agrees is False
    context.exit(ExitCode.CHECK_FAILED if wrong else ExitCode.DONE)


@click.command(
    epilog="""\b
Examples:
  langford cite 28
  langford cite --from jobs/campaigns/langford-28-polyphase-16.jsonl.gz"""
)
@problem_words(f"[{PROBLEM} | NAME]")
@ledger_option
@exports_option
@json_option
def cite(words: tuple[str, ...], address: str, exports: tuple[Path, ...], as_json: bool) -> None:
    """Print a paragraph that cites a count, and a BibTeX entry for the program."""
    found = _evidence(words, address, exports, unconfirmed=False)
    cited = content.paragraph(found)
    if cited is None:
        raise BadInput(f"{found.history.name} has no count to cite: `langford report` shows why")
    entry = content.bibtex(found)
    document = {"campaign": found.history.name, "citation": cited, "bibtex": entry}
    display.outcome(f"{cited}\n\n{entry}", document, as_json)


def _evidence(words: Sequence[str], address: str, exports: Sequence[Path], unconfirmed: bool) -> Evidence:
    if bool(words) == bool(exports):
        raise click.UsageError("name a campaign of the ledger, or give --from FILE: one of them")
    if exports:
        refuse_ledger_beside("--from")
        return gathering.of_files(exports, unconfirmed)
    with Ledger(address) as ledger:
        return gathering.of_campaign(campaign_meant(words, ledger), unconfirmed, ledger.campaigns())


def _document(found: Evidence, files: list[Path]) -> dict[str, object]:
    numbers, times = found.numbers, found.numbers.times
    return {
        "campaign": found.history.name,
        "problem": found.history.key.problem.name,
        "count": None if found.count is None else str(found.count.published),
        "checks": [] if found.count is None else list(found.count.checks),
        "agrees": None if found.agreement is None else found.agreement.agrees,
        "pending": found.pending or None,
        **promise_document(found.promise),
        "tasks": numbers.tasks,
        "done": numbers.done,
        "task_seconds": None if times is None else {"mean": times.mean, "deviation": times.deviation},
        "effective_seconds": numbers.effective,
        "elapsed_seconds": numbers.elapsed,
        "speed": {"of_computation": numbers.of_computation, "average": numbers.since_the_start, "unit": found.unit},
        "occupancy": numbers.occupancy,
        "lost": numbers.aborted,
        "lost_seconds": None if numbers.lost is None else numbers.aborted_seconds,
        "citation": content.paragraph(found),
        "missing": list(found.missing),
        "files": [str(file) for file in files],
    }
