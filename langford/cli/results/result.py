"""``langford result``: merge finished campaigns, or exported files, and print the count."""

from __future__ import annotations

from pathlib import Path

import click

from db.files.promise import document as promise_document
from db.files.promise import in_words
from db.files.reading import STANDARD_INPUT
from jobs.verify import exchange, signing
from langford.cli.campaigns.running import answer_of, campaign_answer
from langford.cli.options.common import allowed_signers_option, json_option, ledger_option
from langford.cli.output import display
from langford.ledger import Ledger


@click.command(
    epilog="""\b
Examples:
  langford result langford-24-polyphase-12
  langford result langford-24-polyphase-12 --unconfirmed
  langford result --from jobs/campaigns/langford-27*.jsonl.gz
  langford result --from -

Exit codes: 0, 2 bad input, 3 incomplete, tasks or promised replication (--replicate), 4 a result is wrong."""
)
@click.argument("names", nargs=-1, required=True)
@ledger_option
@click.option(
    "--from", "from_files", is_flag=True, help="NAMES are exported files of one campaign; - is standard input."
)
@allowed_signers_option
@click.option(
    "--unconfirmed",
    is_flag=True,
    help="Merge even if the promised replication (--replicate) is incomplete.",
)
@json_option
@click.pass_context
def result(
    context: click.Context,
    names: tuple[str, ...],
    address: str,
    from_files: bool,
    allowed: Path | None,
    unconfirmed: bool,
    as_json: bool,
) -> None:
    """Merge finished campaigns, or exported files, and print the count with its checks.

    A file states the promised share of replication and which results are replicated; files of earlier versions
    record no promise.  With --json one campaign is an object, and several are a list of objects.
    """
    if allowed is not None and not from_files:
        raise click.UsageError("--allowed-signers belongs to --from")
    if not from_files:
        codes, counts = list[int](), list[object]()
        with Ledger(address, create=False) as ledger:
            for name in names:
                answer = answer_of(ledger.campaign(name), unconfirmed)
                if as_json:
                    counts.append(answer.document())
                codes.append(answer.judged() if as_json else answer.print(as_json=False))
        if as_json:
            display.print_json(counts if len(names) > 1 else counts[0])
        context.exit(max(codes))
    files = [Path(name) for name in names]
    if allowed is not None and STANDARD_INPUT in files:
        raise click.UsageError("standard input has no signature file: give --from a FILE")
    signers = {file: signing.signer(file, allowed) for file in files if file.is_file()}
    export, count = exchange.count_of(files, unconfirmed)
    for file, words in signers.items():
        display.say(f"{file}: {words}")
    seconds = sum(evaluation.seconds for evaluation in export.results)
    first = "take the files into a ledger with `langford import`, then "
    words = "" if export.promise is not None and export.promise.drawn else in_words(export.promise)
    more = promise_document(export.promise)
    answer = campaign_answer(export.name, export.key, count, seconds, more, words, first)
    context.exit(answer.print(as_json))
