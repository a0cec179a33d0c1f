"""``langford create`` and ``token``: campaigns for workers that come later, and their access tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import click

from db import Campaign
from db.records import TokenRecord
from db.states import Role
from jobs.reach.join import Join
from langford.cli.campaigns.opening import campaign_to_change
from langford.cli.campaigns.running import create_campaign, existing, planned, promise
from langford.cli.campaigns.tokens import VALID_DAYS, revoked_unless_kept
from langford.cli.options.common import (
    is_given,
    json_option,
    kind_option,
    ledger_option,
    name_argument,
    replicate_option,
    task_time_option,
)
from langford.cli.options.groups import CampaignOptions, campaign_options
from langford.cli.options.types import FiniteRange
from langford.cli.output import display
from langford.cli.output.display import show
from langford.cli.output.how_long import Cost, dry_run_option
from langford.devices import CPU, Device, devices
from langford.errors import BadInput
from langford.ledger import Ledger
from langford.machine.durable import replace_file
from langford.machine.outputs import OutputForm
from langford.methods.speed import tabled
from langford.words import DAY_SECONDS, duration, instant, several

TOKEN = OutputForm("a token", rb"[\w-]{43}\n\Z")
OF_NEW = ("role", "days", "label", "out", "join")
"""The options of ``langford token`` that describe a new one."""


@click.command(
    epilog="""\b
Examples:
  langford create 24 --depth 12
  langford create 31 --dry-run
  langford create 28 --device cuda --task-time 2m
  langford create differences 1,2,4,7 --depth 4 --name odd
  langford create 27 --depth 16 --ledger postgresql://host/records --replicate 0.02"""
)
@campaign_options
@kind_option
@task_time_option
@replicate_option
@ledger_option
@dry_run_option
@json_option
def create(
    chosen: CampaignOptions,
    device: str,
    task_time: float | None,
    replicate: float | None,
    address: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Write a campaign with all its tasks into a ledger, for workers that start later."""
    chosen.require_one_depth(task_time)
    place = Device.parse(device)
    new = chosen.plan(place, task_time)
    if new.problem.obstruction:
        raise BadInput(
            f"{new.problem} = 0, so there is nothing to create: no arrangement exists, {new.problem.obstruction}"
        )
    key = new.key
    is_known = not place.on_cores and tabled(new.problem, new.method, place.kind) is not None
    # Of a GPU it is one, which need not be here.
    computing = [place] if is_known else devices(CPU.kind)
    if dry_run:
        with existing(address) as found:
            plan = planned(found, address, chosen.name, key, computing)
            (replace(plan, host=None) if is_known else plan).print(as_json)
        return
    with Ledger(address, create=True) as ledger:
        campaign = create_campaign(ledger, key, chosen.name, chosen.yes)
        Cost.of_count(new.problem, new.method, computing).say()  # it is measured, which may take seconds
        promise(campaign, replicate)
        where = ledger.database.where
        document = {"campaign": campaign.name, "uuid": campaign.uuid, "tasks": campaign.tasks, "ledger": where}
        display.outcome(f"{campaign.name}: {several(campaign.tasks, 'task')} in {where}", document, as_json)


@click.command(
    epilog="""\b
Examples:
  langford token langford-27-polyphase-16 --join langford-27-polyphase-16.join --out site-b.join
  langford token langford-27-polyphase-16 --role reader --label dashboard
  langford token langford-27-polyphase-16 --list
  langford token langford-27-polyphase-16 --revoke 3"""
)
@name_argument
@click.option("--role", type=click.Choice([role.value for role in Role]), default="worker", show_default=True)
@click.option(
    "--days",
    type=FiniteRange(0, 36_500),
    default=VALID_DAYS,
    show_default=True,
    help="How long it is valid; 0: until revoked.",
)
@click.option("--label", default="", help="A note that identifies it in the list.")
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path),
    help="Write it to a file that only you may read; do not print it.",
)
@click.option(
    "--join",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a join file like this one of `langford serve`, with the new token; needs --out.",
)
@click.option("--list", "listing", is_flag=True, help="List the tokens instead of making one.")
@click.option("--revoke", metavar="ID|all", help="Revoke a token by its number in the list, or all tokens.")
@ledger_option
@json_option
def token(
    name: str,
    role: str,
    days: float,
    label: str,
    out: Path | None,
    join: Path | None,
    listing: bool,
    revoke: str | None,
    address: str,
    as_json: bool,
) -> None:
    """Print a new token for a campaign; the ledger keeps only its hash."""
    if listing and revoke is not None:
        raise click.UsageError("list the tokens, or revoke one, not both")
    for option in OF_NEW if listing or revoke is not None else ():
        if is_given(option):
            raise click.UsageError(f"--{option} is for a new token: leave it out, or --list and --revoke")
    if join is not None and out is None:
        raise click.UsageError("--join needs --out FILE: where to write the new file")
    like = None if join is None else Join.read(join)
    with Ledger(address) as ledger:
        campaign = campaign_to_change(name, ledger)
        name = campaign.name
        if listing:
            _list_tokens(campaign, as_json)
        elif revoke is not None:
            revoked = _revoke(campaign, revoke)
            display.outcome(f"{several(revoked, 'token')} revoked", {"campaign": name, "revoked": revoked}, as_json)
        else:
            made = campaign.operator.new_token(Role(role), days * DAY_SECONDS if days else None, label)
            words, kept = made, {"token": made}
            if out is not None:
                with revoked_unless_kept(campaign, made):
                    if like is None:
                        replace_file(out, f"{made}\n".encode(), TOKEN, private=True)
                    else:
                        replace(like, token=made).write(out)
                words, kept = f"{out}: a token for {name}, role {role}, which only you may read", {"file": str(out)}
            display.outcome(words, {"campaign": name, "role": role, "label": label, **kept}, as_json)


def _revoke(campaign: Campaign, which: str) -> int:
    """Returns how many; raises BadInput."""
    if which == "all":
        return campaign.operator.revoke()
    if not (which.isascii() and which.isdecimal() and len(which) < 10 and campaign.operator.revoke(int(which))):
        raise BadInput(f"{campaign.name} has no token {which!r:.20}: `langford token {campaign.name} --list`")
    return 1


def _list_tokens(campaign: Campaign, as_json: bool) -> None:
    """Never a token itself."""
    records = campaign.operator.tokens()
    if as_json:
        display.print_json([asdict(record) for record in records])
        return
    for record in records:
        created, expires = (
            "never" if at is None else f"{instant(at)[:16]}Z"  # to the minute
            for at in (record.created, record.expires)
        )
        line = f"{record.token_id:>4}  {record.role:<6}  created {created}  expires {expires:<17}  {record.label}"
        show(line.rstrip())
        if record.workers or record.used:
            show(f"      {', '.join(_use(record))}")


def _use(record: TokenRecord) -> Iterator[str]:
    """What the workers with a token did, as far as it is known."""
    if record.workers is not None and record.leases is not None:
        yield several(record.workers, "worker")
        yield f"{several(record.leases, 'lease')} ({record.held:,} held)"
    if record.results is not None:
        yield several(record.results, "result")
    if record.failures is not None:
        yield several(record.failures, "failure")
    yield f"{record.share:.0%} of the server's time ({duration(record.used)})"
