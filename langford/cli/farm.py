"""``langford create``, ``token``, ``serve`` and ``work``: campaigns of many machines."""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path

import click

from langford.cli.options import (
    chosen_key,
    chosen_token,
    device_option,
    ledger_option,
    plan_options,
    token_option,
    trust_option,
)
from langford.cli.running import INCOMPLETE, TASKS_SET_ASIDE, StopSignals, create_campaign, seconds_of
from langford.devices import cores
from langford.errors import LangfordError

PORT = 8765

replicate_option = click.option(
    "--replicate",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Have this share of the results, and each worker's first, evaluated again by another worker, on the other "
    "kind of device if there is one.",
)


class OpenToAll(LangfordError):
    """A server would send tokens over a network in the clear."""


@click.command(
    epilog="""\b
Examples:
  langford create langford 27 --depth 16 --ledger postgresql://host/records"""
)
@plan_options
@replicate_option
@ledger_option
def create(
    variant: str,
    n: int,
    copies: int,
    method: str | None,
    depth: int | None,
    name: str | None,
    replicate: float | None,
    ledger: str,
) -> None:
    """Write a campaign with all its tasks into a ledger, for workers to come."""
    from db import Ledger

    key = chosen_key(variant, n, copies, method, depth)
    book = Ledger(ledger, create=True)
    campaign = create_campaign(book, key, name)
    if replicate is not None:
        campaign.set_recheck_share(replicate)
    print(f"{campaign.name}: {campaign.tasks:,} tasks in {ledger}")


@click.command(
    epilog="""\b
Examples:
  langford token langford-27-polyphase-16 > worker.token
  langford token langford-27-polyphase-16 --role reader"""
)
@click.argument("campaign")
@click.option("--role", type=click.Choice(["reader", "worker", "admin"]), default="worker", show_default=True)
@click.option("--revoke", is_flag=True, help="Make all tokens of the campaign worthless instead.")
@ledger_option
def token(campaign: str, role: str, revoke: bool, ledger: str) -> None:
    """Print a new token for a campaign; the ledger keeps only its hash."""
    from db import Ledger
    from db.states import Role

    book = Ledger(ledger)
    record = book.campaign(campaign)
    if revoke:
        print(f"{record.revoke_tokens()} tokens revoked")
    else:
        print(record.new_token(Role(role)))


@click.command(
    epilog="""\b
Examples:
  langford serve langford-27-polyphase-16 --replicate 0.02
  langford serve langford-27-polyphase-16 --host 0.0.0.0 --certificate server.pem --key server.key"""
)
@click.argument("names", nargs=-1, required=True)
@ledger_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=int, default=PORT, show_default=True)
@click.option("--certificate", type=click.Path(exists=True), help="TLS certificate chain, PEM.")
@click.option("--key", type=click.Path(exists=True), help="The certificate's private key, PEM.")
@click.option("--insecure", is_flag=True, help="Listen beyond this machine without TLS.")
@replicate_option
def serve(
    names: tuple[str, ...],
    ledger: str,
    host: str,
    port: int,
    certificate: str | None,
    key: str | None,
    insecure: bool,
    replicate: float | None,
) -> None:
    """Hand out the tasks of campaigns to workers anywhere, and take their results."""
    if not (certificate or insecure or _is_loopback(host)):
        raise OpenToAll(
            f"on {host} tokens would travel in the clear: give --certificate and --key, or --insecure inside a "
            "network that you trust"
        )
    try:
        import uvicorn
    except ImportError as error:
        raise LangfordError("the server needs starlette and uvicorn: pip install 'langford[server]'") from error
    from db import Ledger
    from jobs import server

    book = Ledger(ledger)
    if replicate is not None:
        for name in names:
            book.campaign(name).set_recheck_share(replicate)
    app = server.application(book, names)
    uvicorn.run(
        app,
        host=host,
        port=port,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=5,
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@click.command(
    epilog="""\b
Examples:
  LANGFORD_TOKEN=… langford work http://127.0.0.1:8765/langford-27-polyphase-16
  langford work https://farm:8765/langford-27-polyphase-16 --token-file worker.token --device cuda

SIGTERM, SIGUSR1 and SIGUSR2 give the leases back and end.  Exit codes as of `langford run`."""
)
@click.argument("url")
@token_option
@trust_option
@click.option(
    "--outbox",
    type=click.Path(path_type=Path),
    envvar="LANGFORD_OUTBOX",
    help="Folder for results on their way; default: in ~/.local/state/langford.",
)
@click.option("--workers", type=click.IntRange(min=1), help="Processes on the CPU; default: one per core.")
@device_option
@click.option(
    "--time-limit", callback=seconds_of, metavar="TIME", help="Stop in good time before: seconds or HH:MM:SS."
)
@click.option(
    "--lease",
    type=click.FloatRange(min=1),
    default=120,
    show_default=True,
    help="Seconds after its last sign of life that this worker's tasks go to others.",
)
@click.pass_context
def work(
    context: click.Context,
    url: str,
    token_file: Path | None,
    certificate: Path | None,
    outbox: Path | None,
    workers: int | None,
    device: str,
    time_limit: float | None,
    lease: float,
) -> None:
    """Work for a task server until its campaign is done."""
    stop = StopSignals()
    from jobs.client import RemoteCampaign
    from jobs.outbox import Outbox
    from jobs.worker import RemoteRun
    from langford.cli import display
    from langford.devices import devices

    server = RemoteCampaign(url, chosen_token(token_file), certificate)
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    box = Outbox(outbox or state / "langford" / "outbox" / server.name)
    places = devices(device, workers or cores())
    report = RemoteRun(server, box, places, display.say, stop.reason, time_limit, lease).run()
    waiting = len(list(box.waiting()))
    display.say(
        f"{report.tasks_here} tasks done here" + (f", {waiting} results wait in {box.folder}" if waiting else "")
    )
    if stop.received:
        context.exit(128 + stop.received)
    if report.stopped or waiting:
        context.exit(INCOMPLETE)
    if report.set_aside:
        context.exit(TASKS_SET_ASIDE)
