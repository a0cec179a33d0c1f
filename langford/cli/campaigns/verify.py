"""``langford verify``: recompute tasks of a campaign, say what that proves, and state it for others."""

from __future__ import annotations

import re
import secrets
import time
from pathlib import Path

import click

from db import Campaign, Export, Ledger
from db.errors import Unreplicated
from jobs.run.loop import result
from jobs.verify import coverage as verification
from jobs.verify import signing
from jobs.verify.agreement import agreement
from jobs.verify.recomputation import Comparison, Recomputation, compare, recomputation
from jobs.verify.statement import BadStatement, Statement, statement_of
from langford.bounded import TooLarge, content
from langford.cli.options.common import (
    METHOD_NAMES,
    allowed_signers_option,
    json_option,
    ledger_option,
    sign_option,
)
from langford.cli.options.types import integers
from langford.cli.output import display
from langford.cli.output.progress import ProgressLine
from langford.cli.output.terminal import show
from langford.devices import CPU, VERIFYING
from langford.errors import CheckFailed, Incomplete

DEFAULT_SAMPLE = "3"
LARGEST_STATEMENT = 64 * 2**20
"""Bytes: those of some hundred thousand tasks."""


def sample(text: str) -> str:
    """A number of tasks, "12", or a share of them, "5%"; raises BadParameter."""
    number = re.fullmatch(r"([0-9]{1,9})|([0-9]{1,3}(?:\.[0-9]{1,9})?)%", text)
    if number is None or not float(text.rstrip("%")) or (number[2] and float(number[2]) > 100):
        raise click.BadParameter("give a number of tasks, at least 1, or a share of them, like 5%")
    return text


@click.command(
    epilog="""\b
Examples:
  langford verify langford-19-polyphase-12 --sample 5%
  langford verify langford-19-polyphase-12 --tasks 3,17 --device cuda
  langford verify langford-19-polyphase-12 --sample 100% --all-checks \\
      --statement checked.txt --sign ~/.ssh/id_ed25519
  langford verify --check checked.txt --allowed-signers signers

Exit codes: 0 every recomputed value agrees, 2 bad input, 3 nothing could be compared, or with --all-checks the
promised share (--replicate) is not replicated, 4 a value differs."""
)
@click.argument("name", required=False)
@click.argument("indices", nargs=-1, type=int)
@ledger_option
@click.option("--tasks", type=integers, metavar="K,K,…", help="Recompute these tasks; the same as INDICES.")
@click.option("--waiting", is_flag=True, help="Recompute all tasks that wait for a recheck, or for a decision.")
@click.option(
    "--sample",
    "sample_text",
    type=sample,
    metavar="K|SHARE%",
    help=f"Without tasks: recompute K random ones, or a share of them.  [default: {DEFAULT_SAMPLE}]",
)
@click.option(
    "--seed", type=int, help="Repeat a random choice of tasks.  It is no seed of shifted: that is the campaign's."
)
@click.option(
    "--method",
    "method_name",
    type=METHOD_NAMES,
    help="Default: the campaign's.  miller and regular have the same tasks, so each can recompute the other's.  "
    "Other methods have other partial sums: `langford confirm` compares the total.",
)
@click.option(
    "--device",
    type=click.Choice([*VERIFYING]),
    default=CPU.kind,
    show_default=True,
    help="Where to recompute; host: the GPU's kernel, compiled for this processor with g++ (slow).",
)
@click.option("--all-checks", is_flag=True, help="Also check all stored results, and the count if there is one.")
@click.option(
    "--unconfirmed",
    is_flag=True,
    help="With --all-checks: count although results of the promised share (--replicate) wait for others.",
)
@click.option(
    "--statement", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="State it in this file."
)
@sign_option
@click.option(
    "--check",
    "checked",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Print a statement, and who signed it, instead.",
)
@allowed_signers_option
@json_option
@click.pass_context
def verify(
    context: click.Context,
    name: str | None,
    indices: tuple[int, ...],
    address: str,
    tasks: list[int] | None,
    waiting: bool,
    sample_text: str | None,
    seed: int | None,
    method_name: str | None,
    device: str,
    all_checks: bool,
    unconfirmed: bool,
    statement: Path | None,
    key: Path | None,
    checked: Path | None,
    allowed: Path | None,
    as_json: bool,
) -> None:
    """Recompute tasks of a campaign on this machine and compare.

    Each task is recomputed in another way than it was computed, where there is one: as the sum of the
    tasks of a deeper split, by another kernel (--device), or by another search (--method).

    Where the ledger waits for another evaluation of a task, what is recomputed here decides: run this on a machine
    that you trust.  Other results stay as they are.
    """
    if checked is not None:
        if name is not None or statement is not None or key is not None:
            raise click.UsageError("--check reads a statement: leave the campaign, --statement and --sign out")
        _print_checked(checked, allowed, as_json)
        return
    if name is None:
        raise click.UsageError("name a campaign: langford verify NAME (see `langford status`)")
    named = [*indices, *(tasks or [])]
    if waiting and named:
        raise click.UsageError("name tasks, or take those that wait, not both")
    if (named or waiting) and (sample_text is not None or seed is not None):
        raise click.UsageError("name tasks, or let --sample and --seed choose them, not both")
    if unconfirmed and not all_checks:
        raise click.UsageError("--unconfirmed belongs to --all-checks, which counts")
    if key is not None and statement is None:
        raise click.UsageError("--sign signs the statement: give --statement FILE too")
    if allowed is not None:
        raise click.UsageError("--allowed-signers belongs to --check")
    if statement is not None:
        signing.require_place(statement, key)
    chosen_device = VERIFYING[device].present(1)[0]
    seed = secrets.randbelow(2**32) if seed is None else seed
    with Ledger(address) as ledger:
        campaign = ledger.campaign(name)
        export = campaign.export()
        done = [evaluation.result.index for evaluation in export.results]
        for index in named:
            campaign.plan.require(index)
        if waiting:
            named = campaign.rechecked_tasks()
            if not named:
                print(f"no result of {name} waits for a recheck or a decision")
                return
        if not done:
            raise Incomplete(f"nothing was verified: no task of {name} has a result yet; run them first")
        size = verification.sample_size(sample_text or DEFAULT_SAMPLE, len(done))
        chosen = sorted(set(named)) or verification.choose(done, size, seed)
        way = recomputation(campaign.plan, method_name, chosen_device)
        comparisons = _compare(campaign, export, way, chosen, quiet=as_json)
        decided = verification.decide(campaign, comparisons, chosen_device)
        checks, pending = _all_checks(campaign, campaign.export(), unconfirmed) if all_checks else ([], None)
        promise = campaign.promise()
    compared = {comparison.index for comparison in comparisons if comparison.stored is not None}
    work = float(campaign.plan.work[list(compared)].sum() / campaign.plan.work.sum())
    coverage = verification.Coverage(len(compared), len(done), campaign.tasks, work, None if named else seed)
    counted_sources = verification.sources(
        [evaluation for evaluation in export.results if evaluation.result.index in compared]
    )
    plan_fields = {
        "problem": campaign.problem.name,
        "method": campaign.key.method,
        "depth": campaign.key.depth,
        "seed": campaign.key.seed,
    }
    stated = statement_of(
        name, plan_fields, comparisons, coverage, way.words, chosen_device, checks, counted_sources, promise
    )
    if as_json:
        display.print_json(stated.document)
    else:
        _print_outcome(stated, verification.stale(counted_sources))
        if decided:
            print(f"decided   {', '.join(map(str, decided))}: what was recomputed here is the result now")
    if statement is not None:
        _write(stated, statement, key)
    if not compared:
        raise Incomplete("nothing was verified: none of these tasks has a result yet; run them first")
    if not stated.document["agrees"]:
        wrong = [each.index for each in comparisons if each.verdict == "differs"]
        listed = " ".join(map(str, wrong))
        if set(wrong) <= set(decided):
            raise CheckFailed(
                f"{name}: what was stored for task {listed} is not what was recomputed; it waited for a decision, "
                "and what was recomputed is the result now"
            )
        raise CheckFailed(
            f"{name}: what is stored for task {listed} is not what was recomputed, and one of the two is wrong: "
            f"recompute it on another machine; `langford recheck {name} {listed}` puts it in question, and then "
            "workers, or the same verification, decide"
        )
    if pending is not None:
        raise pending


def _compare(
    campaign: Campaign, export: Export, way: Recomputation, chosen: list[int], quiet: bool
) -> list[Comparison]:
    """Recompute tasks, print each comparison, and show the progress."""
    comparisons: list[Comparison] = []
    work_done, started = 0.0, time.monotonic()
    line = ProgressLine(f"verify {campaign.name}", float(campaign.plan.work[chosen].sum()), len(chosen))

    def done(index: int, share: float) -> None:
        nonlocal work_done
        work_done += float(campaign.plan.work[index]) * share
        line.update(len(comparisons), work_done, work_done, time.monotonic() - started)

    with line.shown():
        for comparison in compare(export, way, chosen, done):
            comparisons.append(comparison)
            if not quiet:
                values = "" if comparison.stored is None else f"{comparison.words}: "
                show(f"task {comparison.index}: {values}{comparison.verdict}")
    return comparisons


def _all_checks(campaign: Campaign, export: Export, unconfirmed: bool) -> tuple[list[str], Unreplicated | None]:
    """Check what is stored without recomputing it, and the count if the campaign is complete, in words.

    Returns the checks, and why there is no count although every task has a result.
    """
    checks = verification.check_all(campaign, export)
    if len(export.results) < campaign.tasks:
        return [*checks, f"no count yet: {campaign.tasks - len(export.results)} tasks have no result"], None
    try:
        count = result(campaign, unconfirmed)
    except Unreplicated as error:
        return [*checks, "no count: the promised share is not replicated"], error
    comparison = agreement(campaign.problem, count.published)
    if comparison.agrees is False:
        raise CheckFailed(
            f"{campaign.problem} = {count.published:,} is wrong ({comparison.words}), so at least one task is: "
            "find it with --sample 100%"
        )
    return [*checks, *count.checks, f"{campaign.problem} = {count.published:,} {comparison.words}"], None


def _print_outcome(stated: Statement, stale: int) -> None:
    """Print what was compared, how, and what that proves."""
    coverage = stated.document["coverage"]
    show(f"compared  {coverage['words']}")
    show(f"how       {stated.document['how']}")
    show(f"promise   {stated.document['promise']}")
    for check in stated.document["checks"]:
        show(f"checked   {check}")
    if stale:
        print(f"note      {stale} of the stored results come from other kernels than this program's")
    print(f"proves    {coverage['proof']}")


def _write(stated: Statement, file: Path, key: Path | None) -> None:
    """Write the statement, signed if there is a key."""
    signature = signing.write(file, stated.to_text().encode(), key)
    signed = "" if signature is None else f", signed in {signature}"
    display.say(f"the statement is in {file}{signed}")


def _print_checked(file: Path, allowed: Path | None, as_json: bool) -> None:
    """Print a statement and who signed it; raises BadStatement, ChangedStatement or BadSignature."""
    try:
        text = content(file, LARGEST_STATEMENT).decode()
    except (UnicodeDecodeError, TooLarge) as error:
        raise BadStatement(f"{file} is no text: choose a file that `langford verify --statement` wrote") from error
    stated, words = Statement.from_text(text), signing.signer(file, allowed)
    if as_json:
        display.print_json({"signature": words, **stated.document})
    else:
        show(stated.words)
        show(f"This statement is {words}.")
