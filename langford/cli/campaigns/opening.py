"""Which campaigns the words on a command line mean: those of these names, or that of a problem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import click

from db.errors import NoSuchCampaign
from langford.cli.campaigns.running import create_campaign, existing, resumed
from langford.devices import CPU, Device
from langford.errors import BadInput, BadProblem
from langford.ledger import Campaign, Ledger
from langford.methods import ChosenPlan, chosen_plan
from langford.problem import Problem
from langford.problem.grammar import families, term_of
from langford.problem.sequences import OEIS, Term

Named = TypeVar("Named")


def problem_meant(words: Sequence[str], ledger: Ledger | None) -> Problem | None:
    """The problem that words mean; None: they are names of campaigns, whether or not the ledger has them.

    No new campaign gets a name that means a problem.

    Args:
        words: of the command line.
        ledger: None: there is none yet.

    Raises BadProblem where they are neither.
    """
    text = " ".join(words)
    try:
        return Problem.parse(text)
    except BadProblem:
        begins_problem = text in {*families(), *OEIS} or text.removeprefix("-").isdecimal()
        if (len(words) == 1 and not begins_problem) or (ledger is not None and any(map(ledger.has, words))):
            return None
        raise


def term_meant(words: Sequence[str], ledger: Ledger | None) -> Term | None:
    """The term of a sequence that words mean; None: a problem, or campaigns.  Raises as :func:`problem_meant`."""
    return None if problem_meant(words, ledger) is None else term_of(" ".join(words))


def existing_campaigns(names: Sequence[str], ledger: Ledger, is_new: bool) -> list[Campaign]:
    """Those of these names; ``is_new``: whether options of a new campaign are given.

    Raises NoSuchCampaign or UsageError.
    """
    found = [ledger.named(name) for name in dict.fromkeys(names)]
    if is_new:
        name = " ".join(names)
        raise click.UsageError(f"{name:.80} is resumed as it was created: leave the options of a new one out")
    return found


def campaigns_meant(words: Sequence[str], ledger: Ledger, device: Device | None = CPU) -> list[Campaign]:
    """Those of these names, or the one of a problem (:meth:`langford.ledger.Ledger.of_problem`); none is created.

    ``device``: see there; None: it must be the only one.  Raises NoSuchCampaign, BadProblem or BadInput.
    """
    problem = problem_meant(words, ledger)
    if problem is None:
        return existing_campaigns(words, ledger, is_new=False)
    campaign = ledger.of_problem(problem, device)
    if campaign is None:
        raise NoSuchCampaign(
            f"no campaign of {problem} in {ledger.database.where}: `langford run {problem.words}` creates one"
        )
    return [campaign]


def campaign_meant(words: Sequence[str], ledger: Ledger) -> Campaign:
    """The same for a command that works on one campaign."""
    return only(campaigns_meant(words, ledger))


def campaign_to_change(name: str, ledger: Ledger) -> Campaign:
    """The same for a command that changes one: of several campaigns of a problem none is chosen."""
    return only(campaigns_meant([name], ledger, device=None))


def only(named: Sequence[Named]) -> Named:
    """Raises UsageError unless there is one."""
    if len(named) != 1:
        raise click.UsageError("this command works on one campaign: name one")
    return named[0]


@contextmanager
def begun_or_new(
    address: str, words: Sequence[str], device: Device, task_seconds: float | None
) -> Iterator[Campaign | ChosenPlan]:
    """The one that :func:`opened` would open, or the plan of one that it would create; raises as that."""
    is_new = task_seconds is not None
    with existing(address) as found:
        problem = problem_meant(words, found)
        if problem is not None:
            new = _plan(problem, device, task_seconds)
            yield resumed(found, new, None, is_new) or new
            return
    with Ledger(address) as ledger:
        yield only(existing_campaigns(words, ledger, is_new))


def _plan(problem: Problem, device: Device, task_seconds: float | None) -> ChosenPlan:
    if problem.obstruction:
        raise BadInput(
            f"{problem} = 0, so there is nothing to compute: no arrangement exists, {problem.obstruction}"
        )
    return chosen_plan(problem, device, task_seconds=task_seconds)


@contextmanager
def opened(
    address: str, words: Sequence[str], device: Device, task_seconds: float | None = None, dry_run: bool = False
) -> Iterator[tuple[Ledger, Sequence[Campaign]]]:
    """A ledger, and the campaigns of it that words mean; that of a problem is created, if there is none.

    ``device``, ``task_seconds``: of a new one, as for :func:`langford.methods.chosen_plan`.  Raises NoLedger,
    NoSuchCampaign, UsageError, BadProblem, BadInput, and as that function; with ``dry_run``, also where one would
    be created.
    """
    is_new = task_seconds is not None
    with existing(address) as found:
        problem = problem_meant(words, found)
    if problem is None:
        with Ledger(address) as ledger:
            yield ledger, existing_campaigns(words, ledger, is_new)
        return
    new = _plan(problem, device, task_seconds)
    with Ledger(address, create=not dry_run) as ledger:
        campaign = resumed(ledger, new, None, is_new)
        if campaign is None and dry_run:
            raise BadInput(
                f"the ledger has no campaign of {problem}, and --dry-run creates none: "
                f"`langford create {problem.name} --dry-run` forecasts it, `langford create` creates it"
            )
        yield ledger, [campaign or create_campaign(ledger, new.key, None, yes=False)]
