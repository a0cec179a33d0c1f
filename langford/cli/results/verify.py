"""``langford verify``: recompute tasks of a campaign, say what that proves, and state it for others."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import click

from jobs.verify import signatures
from jobs.verify.recomputation import Comparison
from jobs.verify.statement import FORM, Statement
from jobs.verify.verification import DEFAULT_SAMPLE, Conclusion, Selection, Verification
from langford.cli.campaigns.opening import campaign_meant
from langford.cli.options.common import (
    METHOD_NAMES,
    allowed_signers_option,
    json_option,
    ledger_option,
    sample_seed_option,
    sign_option,
    tasks_argument,
)
from langford.cli.options.groups import gathered
from langford.cli.options.types import device
from langford.cli.output import display
from langford.cli.output.display import show
from langford.cli.output.how_long import Cost, DryRun, dry_run_option
from langford.cli.output.progress import ProgressLine
from langford.devices import CPU, HOST, VERIFYING, Device, devices
from langford.ledger import Ledger
from langford.methods.speed import expected_seconds
from langford.words import duration, seconds_left, several, share


def sample_of(text: str) -> str:
    """A number of tasks, "12", or a share of them, "5%"; raises BadParameter."""
    number = re.fullmatch(r"([0-9]{1,9})|([0-9]{1,3}(?:\.[0-9]{1,9})?)%", text)
    if number is None or not float(text.rstrip("%")) or (number[2] and float(number[2]) > 100):
        raise click.BadParameter("give a number of tasks, at least 1, or a share of them, like 5%")
    return text


def selected(task_lists: tuple[list[int], ...], waiting: bool, sample: str | None, seed: int | None) -> Selection:
    """Raises UsageError."""
    named = list(chain(*task_lists))
    if waiting and named:
        raise click.UsageError("name tasks, or take those that wait, not both")
    if (named or waiting) and (sample is not None or seed is not None):
        raise click.UsageError("name tasks, or let --sample and --sample-seed choose them, not both")
    return Selection(named, waiting, sample or DEFAULT_SAMPLE, seed)


@click.command(
    epilog="""\b
Examples:
  langford verify 19 --sample 5%
  langford verify "skolem 20" 3 17
  langford verify langford-19-polyphase-12 3 17 --device cuda
  langford verify langford-31-shifted2-16 --sample 5% --dry-run
  langford verify langford-19-polyphase-12 --sample 100% --statement checked.txt --sign ~/.ssh/id_ed25519
  langford verify --check checked.txt --allowed-signers signers

Exit codes: 0 every recomputed value agrees, 2 bad input, 3 nothing could be compared, 4 a value differs."""
)
@click.argument("name", required=False, metavar="[NAME | PROBLEM]")
@tasks_argument
@ledger_option
@gathered(
    "selection",
    selected,
    click.option("--waiting", is_flag=True, help="Recompute all tasks that wait for a recheck, or for a decision."),
    click.option(
        "--sample",
        type=sample_of,
        metavar="K|SHARE%",
        help=f"Without tasks: recompute K random ones, or a share of them.  [default: {DEFAULT_SAMPLE}]",
    ),
    sample_seed_option(type=int, help="Repeat a random choice of tasks."),
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
    "where",
    type=lambda text: text if text in VERIFYING else device(text),
    default=CPU.kind,
    show_default=True,
    metavar="cpu|cuda|cuda:K|host",
    help="Where to recompute; host: the GPU's kernel, compiled for this processor with g++ (slow).",
)
@click.option(
    "--statement",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a statement to FILE.",
)
@sign_option
@click.option(
    "--check",
    "checked",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Instead, print this statement and who signed it.",
)
@allowed_signers_option
@dry_run_option
@json_option
def verify(
    name: str | None,
    address: str,
    selection: Selection,
    method_name: str | None,
    where: str,
    statement: Path | None,
    key: Path | None,
    checked: Path | None,
    allowed: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Recompute tasks of a campaign on this machine and compare.

    Each task is recomputed in a different way, if there is one: as the sum of the
    tasks of a deeper split, by another kernel (--device), or by another search (--method).

    If the ledger is waiting for another evaluation of a task, the value recomputed here decides: run this on a
    machine that you trust.  Other results stay as they are.
    """
    if checked is not None:
        if name is not None or statement is not None or key is not None:
            raise click.UsageError("--check reads a statement: leave the campaign, --statement and --sign out")
        _print_checked(checked, allowed, as_json)
        return
    if name is None:
        raise click.UsageError("name a campaign: langford verify NAME (see `langford status`)")
    if key is not None and statement is None:
        raise click.UsageError("--sign signs the statement: give --statement FILE too")
    if allowed is not None:
        raise click.UsageError("--allowed-signers belongs to --check")
    if statement is not None:
        signatures.require_place(statement, FORM, key)
    chosen_device = (VERIFYING[where].present(1) if where in VERIFYING else devices(where))[0]
    with Ledger(address) as ledger:
        campaign = campaign_meant(name.split(), ledger)
        name = campaign.name
        if selection.waiting and not campaign.reader.rechecked_tasks():
            words = f"no result of {name} waits for a recheck or a decision"
            display.outcome(words, {"campaign": name, "outcome": words, "agrees": None, "tasks": []}, as_json)
            return
        verification = Verification(campaign, selection, method_name, chosen_device)
        computing = [chosen_device] * chosen_device.at_once
        tasks_named = several(len(verification.tasks), "task")
        what = f"verify {name}: {tasks_named}, {share(verification.share)} of the work"
        expected = _seconds(verification, computing)
        cost = Cost(what, expected, computing, partial(_quicker, verification, expected))
        if dry_run:
            DryRun(cost, len(verification.tasks)).print(as_json)
            return
        cost.say()
        comparisons = _compare(verification, quiet=as_json)
        outcome = verification.conclude(comparisons)
    if as_json:
        display.print_json(outcome.statement.document)
    else:
        _print_outcome(outcome)
    if statement is not None:
        signature = signatures.write(statement, outcome.statement.to_text().encode(), FORM, key)
        signed = "" if signature is None else f", signed in {signature}"
        display.say(f"the statement is in {statement}{signed}")
    if outcome.error is not None:
        raise outcome.error


def _seconds(verification: Verification, computing: Sequence[Device]) -> float:
    """Expected seconds of a recomputation on devices that compute at the same time; 0: moments, or not known."""
    plan = verification.campaign.plan
    if computing[0] == HOST or not verification.share:
        return 0.0
    return expected_seconds([(plan.problem, plan.method)], computing)[plan.problem] * verification.share


def _quicker(verification: Verification, expected: float) -> str:
    """What to do instead of a long recomputation, in words: the smallest task that is done."""
    name, smallest = verification.campaign.name, verification.smallest
    time = expected * float(verification.campaign.plan.work[smallest]) / verification.work
    gpus = "GPUs make it shorter (--device cuda)"
    if time > expected / 2:
        return gpus
    return f"{gpus}; the smallest task alone takes about {duration(time)}: `langford verify {name} {smallest}`"


def _compare(verification: Verification, quiet: bool) -> list[Comparison]:
    comparisons: list[Comparison] = []
    work_done, started = 0.0, time.monotonic()
    line = ProgressLine(f"verify {verification.campaign.name}", verification.work, len(verification.tasks))

    def progress(work: float) -> None:
        nonlocal work_done
        work_done += work
        left = seconds_left(verification.work, work_done, time.monotonic() - started)
        line.update(len(comparisons), work_done, left)

    with line.shown():
        for comparison in verification.compare(progress):
            comparisons.append(comparison)
            if not quiet:
                values = "" if comparison.stored is None else f"{comparison.words}: "
                show(f"task {comparison.index}: {values}{comparison.verdict}")
    return comparisons


def _print_outcome(outcome: Conclusion) -> None:
    stated = outcome.statement.document
    show(f"compared  {stated['coverage']['words']}")
    show(f"how       {stated['how']}")
    show(f"promise   {stated['promise']}")
    if outcome.stale:
        print(f"note      {outcome.stale} of the stored results come from other kernels than this program's")
    print(f"proves    {stated['coverage']['proof']}")
    if outcome.decided:
        print(f"decided   {', '.join(map(str, outcome.decided))}: the result is now the recomputed value")


def _print_checked(file: Path, allowed: Path | None, as_json: bool) -> None:
    """Raises BadInput, ChangedStatement or BadSignature."""
    stated, words = Statement.read(file), signatures.signer(file, allowed)
    text = f"{stated.words}\nThis statement is {words}."
    display.outcome(text, {"signature": words, **stated.document}, as_json)
