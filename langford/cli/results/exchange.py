"""``langford result``, ``export`` and ``import``: counts of finished campaigns, and files of their results."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path

import click

from db.errors import Unreplicated
from db.files import reading
from db.files.promise import document as promise_document
from db.files.promise import in_words
from db.files.reading import STANDARD_INPUT
from db.files.salvage import salvaged
from jobs.verify import exchange, signatures
from langford.cli.campaigns.opening import campaign_meant, campaigns_meant, term_meant
from langford.cli.campaigns.running import answer_of, campaign_answer
from langford.cli.exit_codes import ExitCode
from langford.cli.options.common import (
    allowed_signers_option,
    json_option,
    ledger_option,
    refuse_ledger_beside,
    sign_option,
    unconfirmed_option,
)
from langford.cli.options.groups import PROBLEM, answer_options, problem_words
from langford.cli.output import display
from langford.cli.output.answer import Answer, Asked
from langford.cli.output.display import show
from langford.errors import BadInput
from langford.ledger import Campaign, Ledger
from langford.words import several


@click.command(
    epilog="""\b
Examples:
  langford result 24
  langford result langford-24-polyphase-12 --unconfirmed
  langford result --from jobs/campaigns/langford-27*.jsonl.gz
  langford result --from -

Exit codes: 0 merged, 2 bad input, 3 tasks or the promised replication (--replicate) are incomplete, 4 a result
is wrong."""
)
@problem_words(f"{PROBLEM} | NAME...")
@ledger_option
@click.option(
    "--from",
    "from_files",
    is_flag=True,
    help="Merge these exported files of one campaign; - is standard input.",
)
@allowed_signers_option
@unconfirmed_option
@answer_options
@json_option
@click.pass_context
def result(
    context: click.Context,
    words: tuple[str, ...],
    address: str,
    from_files: bool,
    allowed: Path | None,
    unconfirmed: bool,
    asked: Asked,
    as_json: bool,
) -> None:
    """Merge finished campaigns, or exported files, and print the count with its checks.

    A file states the promised share of replication and which results are replicated; files of earlier versions
    record no promise.  With --json one campaign is an object, and several are a list of objects.
    """
    if allowed is not None and not from_files:
        raise click.UsageError("--allowed-signers belongs to --from")
    if not from_files:
        codes, answers = list[int](), list[Answer]()
        with Ledger(address) as ledger:
            campaigns = campaigns_meant(words, ledger)
            if asked.expected is not None and len(campaigns) > 1:
                raise click.UsageError("--expect is the count of one campaign: name one")
            asked = replace(asked, term=term_meant(words, ledger))
            for campaign in campaigns:
                answers.append(replace(answer_of(campaign, unconfirmed), asked=asked))
                codes.append(_shown(answers[-1], as_json))
        if as_json:
            documents = [answer.document() for answer in answers]
            display.print_json(documents if len(campaigns) > 1 else documents[0])
        context.exit(max(codes))
    refuse_ledger_beside("--from")
    if not words:
        raise click.UsageError("name the exported files")
    files = [Path(name) for name in words]
    if allowed is not None and STANDARD_INPUT in files:
        raise click.UsageError("standard input has no signature file: give --from a FILE")
    signers = {file: signatures.signer(file, allowed) for file in files if file.is_file()}
    export, count = exchange.count_of(files, unconfirmed)
    for file, author in signers.items():
        display.say(f"{file}: {author}")
    seconds = sum(evaluation.seconds for evaluation in export.results)
    first = "take the files into a ledger with `langford import`, then "
    promised = "" if export.promise is not None and export.promise.drawn else in_words(export.promise)
    more = promise_document(export.promise)
    answer = campaign_answer(export.name, export.key, count, seconds, more, promised, first)
    answer = replace(answer, asked=asked)
    context.exit(answer.print(as_json))


@click.command(
    epilog="""\b
Examples:
  langford export langford-28-polyphase-16
  langford export langford-28-polyphase-16 --out part-1.jsonl.gz"""
)
@problem_words(f"{PROBLEM} | NAME")
@ledger_option
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Default: NAME.jsonl.gz.")
@sign_option
@click.option("--damaged", is_flag=True, help="NAME is in a damaged ledger: write the results that can be read.")
@json_option
def export(
    words: tuple[str, ...], address: str, out: Path | None, key: Path | None, damaged: bool, as_json: bool
) -> None:
    """Write a campaign's results, checksummed, to a file that another ledger can import.

    The file states the promised share (--replicate), which results were drawn, and which of them others confirmed.
    """
    if damaged:
        _export_readable(" ".join(words), Path(address), out, key, as_json)
        return
    with Ledger(address) as ledger:
        campaign = campaign_meant(words, ledger)
        name = campaign.name
        exported = campaign.reader.trusted_export()
    file, doubtful = out or exchange.file_of(name), exported.left_out
    exchange.require_superseded(file, name, campaign.key, [*exported.tasks, *doubtful])
    signature = signatures.write(file, exported.content, exchange.RESULTS, key)
    if doubtful:
        display.say(
            f"{several(len(doubtful), 'result')} in doubt left out (first: task {doubtful[0]}): settle this with "
            f"`langford verify {name} --waiting`, then export again"
        )
    lines = [
        f"{len(exported.tasks):,} of {several(campaign.tasks, 'result')} of {name} in {file}",
        f"promise   {in_words(exported.promise)}",
        *([] if signature is None else [f"signed in {signature}"]),
    ]
    document = {
        "campaign": name,
        "results": len(exported.tasks),
        "left_out": doubtful,
        "tasks": campaign.tasks,
        "file": str(file),
        "signature": None if signature is None else str(signature),
        **promise_document(exported.promise),
    }
    display.outcome("\n".join(lines), document, as_json)


def _export_readable(name: str, ledger: Path, out: Path | None, key: Path | None, as_json: bool) -> None:
    if not ledger.is_file():
        raise BadInput(f"{ledger} is not the file of a ledger, which --damaged reads: name it with --ledger")
    saved = salvaged(ledger, name)
    file = out or exchange.file_of(name)
    exchange.require_superseded(
        file, saved.name, saved.key, [evaluation.result.index for evaluation in saved.results]
    )
    signature = signatures.write(file, saved.to_bytes(), exchange.RESULTS, key)
    results, tasks = len(saved.results), several(saved.tasks, "result")
    document = {"campaign": name, "results": results, "tasks": saved.tasks, "file": str(file)}
    document |= {"signature": None if signature is None else str(signature), **promise_document(saved.promise)}
    display.outcome(
        f"{results:,} of {tasks} of {name} in {file}; `langford import {file} --ledger NEW` takes them into "
        "another ledger",
        document,
        as_json,
    )


@click.command(
    "import",
    epilog="""\b
Examples:
  langford import part-1.jsonl.gz part-2.jsonl.gz
  langford import jobs/campaigns/*.jsonl.gz --ledger records.db

Exit codes: 0 imported, 2 bad input, nothing imported, 3 a campaign is complete, but its promised
replication (--replicate) is not, 4 results contradict each other or a count is wrong.""",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@unconfirmed_option
@ledger_option
@json_option
@click.pass_context
def import_(
    context: click.Context, files: tuple[Path, ...], unconfirmed: bool, address: str, as_json: bool
) -> None:
    """Import exported results into a ledger; repeating it changes nothing.

    A result for a task that is done confirms the first one or is recorded as a conflict.
    A campaign that is complete afterwards is merged, and its count is compared with the
    published one.

    A campaign that the ledger lacks is created, which is printed.

    A promise (--replicate) is imported too; the larger one applies.  Confirmations in a file do not count
    as votes here.
    """
    codes = {ExitCode.DONE}
    exports = map(exchange.validated, files)
    first = next(exports)
    imported: list[dict[str, object]] = []
    counts: list[dict[str, object]] = []
    # Only now: a file that is refused creates no ledger.
    with Ledger(address, create=True) as ledger:
        campaigns: dict[str, Campaign] = {}
        for file, export in zip(files, chain([first], exports), strict=True):
            is_new = not ledger.has(export.name)
            campaign, events = exchange.take(ledger, file, export)
            by_kind = {str(kind): events.count(kind) for kind in dict.fromkeys(events) if kind}
            new = events.count(None)
            promise = promise_document(export.promise)
            words = {"file": str(file), "campaign": campaign.name, "created": is_new, "new": new}
            imported.append({**words, **by_kind, **promise})
            if not as_json:
                notes = "".join(f", {number} {kind}" for kind, number in by_kind.items())
                show(f"{reading.in_words(file)}: {several(new, 'new result')} of {campaign.name}{notes}")
                if is_new:
                    show(f"  created   the campaign {campaign.name}: {campaign.key}")
                show(f"  promise   {in_words(export.promise)}, as the file says")
            campaigns[campaign.name] = ledger.named(campaign.name)
        for campaign in campaigns.values():
            if not campaign.reader.standing().missing:
                code, counted = _count(campaign, unconfirmed, as_json)
                codes.add(code)
                counts.append(counted)
    if as_json:
        display.print_json({"files": imported, "counts": counts})
    context.exit(max(codes))


def _count(campaign: Campaign, unconfirmed: bool, as_json: bool) -> tuple[ExitCode, dict[str, object]]:
    """Returns CHECK_FAILED, INCOMPLETE or DONE, and the document of the count."""
    try:
        answer = answer_of(campaign, unconfirmed)
    except Unreplicated as error:
        display.say(f"langford: {error}")
        document = {"campaign": campaign.name, "count": None, **promise_document(campaign.reader.promise())}
        return ExitCode.INCOMPLETE, document
    if campaign.reader.promise() is None:  # the line about the file says what is known of it
        answer = replace(answer, promise="")
    return _shown(answer, as_json), answer.document()


def _shown(answer: Answer, as_json: bool) -> ExitCode:
    """Print one of several answers; as JSON they are one document, which follows."""
    return answer.judged() if as_json else answer.print(as_json=False)
