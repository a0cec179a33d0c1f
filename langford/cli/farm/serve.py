"""``langford serve``: the task server."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import click

from db import Campaign, Ledger
from db.look.overview.records import Overview
from db.look.overview.shared import Shared
from jobs.addresses import is_this_machine, without_brackets
from jobs.farm.api.overviews import Overviews
from jobs.show import log_lines
from jobs.show.reporter import Reporter
from langford.cli.farm.logs import FORMATS, written
from langford.cli.options.common import ledger_option, replicate_option
from langford.cli.options.notifying import NotifyOptions, notified, notify_options
from langford.errors import BadInput, NotInstalled
from langford.version import install

PORT = 8765
LAST_SECONDS = 5.0
"""The time limit for the last lines and notifications."""


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
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="A proxy in front of this server, which names the client in X-Forwarded-For.",
)
@replicate_option
@click.option(
    "--log-format",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="Format of the log on standard error; json: one object per line.",
)
@notify_options
@click.option("--access-log", is_flag=True, help="Log each request.")
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
    log_format: str,
    access_log: bool,
    notify: NotifyOptions,
) -> None:
    """Hand out the tasks of campaigns to workers anywhere, and take their results."""
    host = without_brackets(host)
    if not (certificate or insecure or is_this_machine(host)):
        raise BadInput(
            f"on {host} tokens would travel without encryption: give --certificate and --key, or --insecure inside "
            "a network that you trust"
        )
    try:
        from jobs.farm.api import server, serving
        from jobs.farm.api.clients import Clients, Traffic
    except ImportError as error:
        raise NotInstalled(
            f"the server needs starlette, uvicorn and prometheus-client ({error}): {install('server')}"
        ) from error
    if key and not certificate:
        raise click.UsageError("--key belongs to --certificate: give both")
    if certificate:
        serving.require_certificate(certificate, key)
    hooks = notify.hooks()
    with (
        Ledger(address) as ledger,
        serving.socket_of(host, port) as listener,
        ended_in_order() as received,
        written(log_format, log_lines.LOGGERS),
    ):
        ledger.require_writable()
        campaigns = [ledger.campaign(name) for name in dict.fromkeys(names)]
        if replicate is not None:
            for campaign in campaigns:
                campaign.set_recheck_share(replicate)
        overviews = Overviews({campaign.name: campaign for campaign in campaigns})
        clients = Clients(proxies=proxies, traffic=Traffic(access_log))
        application = server.application(ledger, names, clients, overviews)
        log_lines.listening(listener, certificate is not None, campaigns)
        shared = {campaign: overviews.of(campaign.name) for campaign in campaigns}
        with (
            notified(campaigns, hooks, notify.stalled_after, log_lines.notice, lambda: LAST_SECONDS),
            reported(shared),
        ):
            limits = serving.Serving(certificate, key)
            serving.serve(application, clients, listener, limits, lambda: bool(received))
        log_lines.stopped()


@contextmanager
def ended_in_order() -> Iterator[list[int]]:
    """Delay SIGTERM until the block has ended, so that the server can close its connections first.

    Yields a list that gets the signals which arrive before the server handles them.
    """
    received = list[int]()
    before = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, before)
        if received:
            signal.raise_signal(signal.SIGTERM)


@contextmanager
def reported(overviews: Mapping[Campaign, Shared[Overview]]) -> Iterator[None]:
    """Log the events of campaigns while the block runs."""
    reporter = Reporter(overviews)
    reporter.start()
    try:
        yield
    finally:
        reporter.stop(LAST_SECONDS)
