"""``langford create``, ``token``, ``serve`` and ``work``: campaigns on many machines."""

from __future__ import annotations

import os
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from db import Campaign, Ledger
from db.states import Role
from jobs.farm import listening
from jobs.farm.client import RemoteCampaign, is_this_machine
from jobs.farm.outbox import Outbox
from jobs.farm.tasks import ServerTasks
from jobs.identity import Identity
from jobs.run import Run
from langford.cli import display
from langford.cli.exit_codes import ExitCode, code_of_signal
from langford.cli.option_groups import CampaignOptions, campaign_options
from langford.cli.options import (
    certificate_option,
    chosen_cores,
    device_option,
    insecure_option,
    json_option,
    ledger_option,
    patience_option,
    replicate_option,
    time_limit_option,
    token_of,
    token_option,
    workers_option,
)
from langford.cli.parameter_types import FiniteRange
from langford.cli.running import StopSignals, create_campaign
from langford.cli.terminal import plain
from langford.devices import devices
from langford.durable import replace_file
from langford.errors import LangfordError

PORT = 8765
DAY_SECONDS = 86_400.0


class OpenToAll(LangfordError):
    """Tokens would travel over a network without encryption."""


class NoSuchToken(LangfordError):
    """A campaign has no token of that number."""


class NoServer(LangfordError):
    """starlette or uvicorn, which the task server needs, is missing."""


@click.command(
    epilog="""\b
Examples:
  langford create langford 24 --depth 12
  langford create langford 27 --depth 16 --ledger postgresql://host/records --replicate 0.02"""
)
@campaign_options
@replicate_option
@ledger_option
@json_option
def create(chosen: CampaignOptions, replicate: float | None, address: str, as_json: bool) -> None:
    """Write a campaign with all its tasks into a ledger, for workers to come."""
    key = chosen.key()
    with Ledger(address, create=True) as ledger:
        campaign = create_campaign(ledger, key, chosen.name, chosen.yes)
        if replicate is not None:
            campaign.set_recheck_share(replicate)
        where = ledger.database.where
        if as_json:
            document = {"campaign": campaign.name, "uuid": campaign.uuid, "tasks": campaign.tasks, "ledger": where}
            display.print_json(document)
        else:
            print(f"{campaign.name}: {campaign.tasks:,} tasks in {where}")


@click.command(
    epilog="""\b
Examples:
  langford token langford-27-polyphase-16 --out worker.token --days 30
  langford token langford-27-polyphase-16 --role reader --label dashboard
  langford token langford-27-polyphase-16 --list
  langford token langford-27-polyphase-16 --revoke 3"""
)
@click.argument("name")
@click.option("--role", type=click.Choice([role.value for role in Role]), default="worker", show_default=True)
@click.option(
    "--days", type=click.FloatRange(min=0, max=36_500), help="How long it is valid; default: until revoked."
)
@click.option("--label", default="", help="What it is for, to find it in the list.")
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path),
    help="Write it to a file that only you may read; do not print it.",
)
@click.option("--list", "listing", is_flag=True, help="List the campaign's tokens instead.")
@click.option("--revoke", metavar="ID|all", help="Revoke a token, by its number in the list, or all, instead.")
@ledger_option
@json_option
def token(
    name: str,
    role: str,
    days: float | None,
    label: str,
    out: Path | None,
    listing: bool,
    revoke: str | None,
    address: str,
    as_json: bool,
) -> None:
    """Print a new token for a campaign; the ledger keeps only its hash."""
    with Ledger(address) as ledger:
        campaign = ledger.campaign(name)
        if listing:
            _list_tokens(campaign, as_json)
        elif revoke is not None:
            revoked = _revoke(campaign, revoke)
            if as_json:
                display.print_json({"campaign": name, "revoked": revoked})
            else:
                print(f"{revoked} tokens revoked")
        else:
            made = campaign.new_token(Role(role), None if days is None else days * DAY_SECONDS, label)
            if out is not None:
                replace_file(out, f"{made}\n".encode(), private=True)
            if as_json:
                kept = {"token": made} if out is None else {"file": str(out)}
                display.print_json({"campaign": name, "role": role, "label": label, **kept})
            elif out is None:
                print(made)


def _revoke(campaign: Campaign, which: str) -> int:
    """Revoke one token or all; returns how many.  Raises NoSuchToken."""
    if which == "all":
        return campaign.revoke_tokens()
    if not (which.isascii() and which.isdecimal() and len(which) < 10 and campaign.revoke_token(int(which))):
        raise NoSuchToken(f"{campaign.name} has no token {which!r:.20}: `langford token {campaign.name} --list`")
    return 1


def _list_tokens(campaign: Campaign, as_json: bool) -> None:
    """Print all tokens of a campaign, never a token itself."""
    records = campaign.tokens()
    if as_json:
        display.print_json([asdict(record) for record in records])
        return
    for record in records:
        created, expires = (
            "never" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}Z"
            for at in (record.created, record.expires)
        )
        line = f"{record.token_id:>4}  {record.role:<6}  created {created}  expires {expires:<17}  {record.label}"
        print(plain(line.rstrip()))


@click.command(
    epilog="""\b
Examples:
  langford serve langford-27-polyphase-16 --replicate 0.02
  langford serve langford-27-polyphase-16 --host 0.0.0.0 --certificate server.pem --key server.key"""
)
@click.argument("names", nargs=-1, required=True)
@ledger_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65_535), default=PORT, show_default=True)
@click.option("--certificate", type=click.Path(exists=True, dir_okay=False), help="TLS certificate chain, PEM.")
@click.option("--key", type=click.Path(exists=True, dir_okay=False), help="The certificate's private key, PEM.")
@click.option("--insecure", is_flag=True, help="Listen beyond this machine without TLS.")
@click.option(
    "--proxy", "proxies", multiple=True, metavar="ADDRESS", help="A proxy whose X-Forwarded-For names the client."
)
@replicate_option
def serve(
    names: tuple[str, ...],
    address: str,
    host: str,
    port: int,
    certificate: str | None,
    key: str | None,
    insecure: bool,
    proxies: tuple[str, ...],
    replicate: float | None,
) -> None:
    """Hand out the tasks of campaigns to workers anywhere, and take their results."""
    if not (certificate or insecure or is_this_machine(host)):
        raise OpenToAll(
            f"on {host} tokens would travel without encryption: give --certificate and --key, or --insecure inside "
            "a network that you trust"
        )
    try:
        from jobs.farm import server, serving
        from jobs.farm.connections import Connections, LimitedLog
        from jobs.farm.streams import Streams
    except ImportError as error:
        raise NoServer(
            f"the server needs starlette and uvicorn ({error}): pip install 'langford[server]'"
        ) from error
    if key and not certificate:
        raise click.UsageError("--key belongs to --certificate: give both")
    if certificate:
        listening.require_certificate(certificate, key)
    with Ledger(address) as ledger, listening.socket_of(host, port) as listener:
        if replicate is not None:
            for name in names:
                ledger.campaign(name).set_recheck_share(replicate)
        connections, log = Connections(proxies=proxies), LimitedLog()
        streams = Streams(log)
        application = server.application(ledger, names, None, connections, log, proxies, streams)
        serving.serve(application, connections, log, listener, serving.Serving(certificate, key), streams)


@click.command(
    epilog="""\b
Examples:
  LANGFORD_TOKEN=… langford work http://127.0.0.1:8765/langford-27-polyphase-16
  langford work https://farm:8765/langford-27-polyphase-16 --token-file worker.token --device cuda

SIGTERM, SIGUSR1 and SIGUSR2 give the leases back and end.  Exit codes: those of `langford run`."""
)
@click.argument("url")
@token_option
@certificate_option
@insecure_option
@click.option(
    "--outbox",
    type=click.Path(path_type=Path),
    envvar="LANGFORD_OUTBOX",
    help="Folder for results on their way; default: in ~/.local/state/langford.",
)
@workers_option
@device_option
@time_limit_option
@patience_option
@click.option(
    "--lease",
    type=FiniteRange(min=1, max=86_400),
    default=120,
    show_default=True,
    help="Seconds after the last renewal of its leases that this worker's tasks go to others.",
)
@json_option
@click.pass_context
def work(
    context: click.Context,
    url: str,
    token_file: Path | None,
    certificate: Path | None,
    insecure: bool,
    outbox: Path | None,
    workers: int | None,
    device: str,
    time_limit: float | None,
    patience: float,
    lease: float,
    as_json: bool,
) -> None:
    """Work for a task server until its campaign is done."""
    stop = StopSignals()
    chosen_devices = devices(device, chosen_cores(workers))
    server = RemoteCampaign(url, token_of(token_file), certificate, insecure)
    state_home = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    identity = Identity.fresh(chosen_devices)
    results = Outbox(outbox or state_home / "langford" / "outbox", identity, display.say)
    results.prepare()
    source = ServerTasks(server, results, identity, display.say, lease)
    run = Run(
        source,
        chosen_devices,
        say=display.say,
        stop_reason=stop.reason,
        time_limit=time_limit,
        patience=patience,
    )
    report = run.run()
    waiting = results.count
    remark = f", {waiting} results wait in {results.folder}" if waiting else ""
    display.say(f"{report.tasks_here} tasks done here{remark}")
    if source.rechecks and not report.stopped:
        display.say(f"{source.rechecks} results wait for workers of other hosts, with other tokens")
    if as_json:
        document = {
            "campaign": server.name,
            "tasks_done": report.tasks_here,
            "results_waiting": waiting,
            "set_aside": report.set_aside,
            "stopped": report.stopped,
        }
        display.print_json(document)
    if stop.received:
        context.exit(code_of_signal(stop.received))
    if report.stopped or waiting:
        context.exit(ExitCode.INCOMPLETE)
    if report.set_aside:
        context.exit(ExitCode.TASKS_SET_ASIDE)
