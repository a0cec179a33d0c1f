"""``langford create``, ``token``, ``serve`` and ``work``: campaigns on many machines."""

from __future__ import annotations

import ipaddress
import os
from contextlib import suppress
from pathlib import Path

import click

from db import Ledger
from db.states import Role
from jobs.farm import listening
from jobs.farm.client import RemoteCampaign
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
    ledger_option,
    replicate_option,
    time_limit_option,
    token_of,
    token_option,
    workers_option,
)
from langford.cli.parameter_types import FiniteRange
from langford.cli.running import StopSignals, create_campaign
from langford.devices import devices
from langford.errors import LangfordError

PORT = 8765


class OpenToAll(LangfordError):
    """Tokens would travel over a network without encryption."""


class NoServer(LangfordError):
    """starlette or uvicorn, which the task server needs, is missing."""


@click.command(
    epilog="""\b
Examples:
  langford create langford 27 --depth 16 --ledger postgresql://host/records"""
)
@campaign_options
@replicate_option
@ledger_option
def create(chosen: CampaignOptions, replicate: float | None, address: str) -> None:
    """Write a campaign with all its tasks into a ledger, for workers to come."""
    key = chosen.key()
    with Ledger(address, create=True) as ledger:
        campaign = create_campaign(ledger, key, chosen.name, chosen.yes)
        if replicate is not None:
            campaign.set_recheck_share(replicate)
    print(f"{campaign.name}: {campaign.tasks:,} tasks in {address}")


@click.command(
    epilog="""\b
Examples:
  langford token langford-27-polyphase-16 > worker.token
  langford token langford-27-polyphase-16 --role reader"""
)
@click.argument("name")
@click.option("--role", type=click.Choice([role.value for role in Role]), default="worker", show_default=True)
@click.option("--revoke", is_flag=True, help="Revoke all tokens of the campaign instead.")
@ledger_option
def token(name: str, role: str, revoke: bool, address: str) -> None:
    """Print a new token for a campaign; the ledger keeps only its hash."""
    with Ledger(address) as ledger:
        campaign = ledger.campaign(name)
        print(f"{campaign.revoke_tokens()} tokens revoked" if revoke else campaign.new_token(Role(role)))


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
@replicate_option
def serve(
    names: tuple[str, ...],
    address: str,
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
            f"on {host} tokens would travel without encryption: give --certificate and --key, or --insecure inside "
            "a network that you trust"
        )
    try:
        import uvicorn

        from jobs.farm import server
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
        configuration = uvicorn.Config(
            server.application(ledger, names),
            ssl_certfile=certificate,
            ssl_keyfile=key,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=5,
        )
        with suppress(KeyboardInterrupt):
            uvicorn.Server(configuration).run(sockets=[listener])


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

SIGTERM, SIGUSR1 and SIGUSR2 give the leases back and end.  Exit codes: those of `langford run`."""
)
@click.argument("url")
@token_option
@certificate_option
@click.option(
    "--outbox",
    type=click.Path(path_type=Path),
    envvar="LANGFORD_OUTBOX",
    help="Folder for results on their way; default: in ~/.local/state/langford.",
)
@workers_option
@device_option
@time_limit_option
@click.option(
    "--lease",
    type=FiniteRange(min=1, max=86_400),
    default=120,
    show_default=True,
    help="Seconds after the last renewal of its leases that this worker's tasks go to others.",
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
    chosen_devices = devices(device, chosen_cores(workers))
    server = RemoteCampaign(url, token_of(token_file), certificate)
    state_home = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    results = Outbox(outbox or state_home / "langford" / "outbox" / server.name)
    source = ServerTasks(server, results, Identity.fresh(chosen_devices), display.say, lease)
    report = Run(source, chosen_devices, say=display.say, stop_reason=stop.reason, time_limit=time_limit).run()
    waiting = len(list(results.waiting()))
    remark = f", {waiting} results wait in {results.folder}" if waiting else ""
    display.say(f"{report.tasks_here} tasks done here{remark}")
    if stop.received:
        context.exit(code_of_signal(stop.received))
    if report.stopped or waiting:
        context.exit(ExitCode.INCOMPLETE)
    if report.set_aside:
        context.exit(ExitCode.TASKS_SET_ASIDE)
