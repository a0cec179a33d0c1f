"""``langford serve``: the task server."""

from __future__ import annotations

import os
import shlex
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import click

from db import Campaign
from db.look.overview.records import Overview
from db.look.overview.shared import Shared
from jobs.addresses import is_this_machine, without_brackets
from jobs.farm.api.overviews import Overviews
from jobs.show import log_lines
from jobs.show.reporter import Reporter
from langford.cli.campaigns.opening import opened
from langford.cli.campaigns.tokens import worker_token
from langford.cli.farm.logs import FORMATS, written
from langford.cli.options.common import (
    kind_option,
    ledger_option,
    ready_file_option,
    replicate_option,
    task_time_option,
)
from langford.cli.options.groups import PROBLEM, problem_words
from langford.cli.options.notifying import NotifyOptions, notified, notify_options
from langford.devices import Device
from langford.errors import BadInput, NotInstalled
from langford.machine.durable import replace_file
from langford.version import install

PORT = 8765
LAST_SECONDS = 5.0
"""The time limit for the last lines and notifications."""


@click.command(
    epilog="""\b
Examples:
  langford serve 28
  langford serve near-skolem 25 missing 5 --token-file worker.token --task-time 2m
  langford serve langford-27-polyphase-16 --replicate 0.02
  langford serve langford-27-polyphase-16 --host 0.0.0.0 --certificate server.pem --key server.key"""
)
@problem_words(f"{PROBLEM} | NAME...")
@ledger_option
@kind_option
@task_time_option
@click.option(
    "--token-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for a worker's token: written unless it exists, extended daily; default for PROBLEM: NAME.token.",
)
@ready_file_option
@click.option("--until-closed", is_flag=True, help="End when standard input is closed.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=PORT, show_default=True)
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
    words: tuple[str, ...],
    address: str,
    device: str,
    task_time: float | None,
    token_file: Path | None,
    ready_file: Path | None,
    until_closed: bool,
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
    """Hand out the tasks of campaigns to workers anywhere, and take their results.

    For a PROBLEM, the campaign is created unless it exists, and a worker's token is written to a file.  The log
    shows the command that starts a worker.
    """
    if ready_file is not None:
        ready_file.unlink(missing_ok=True)
    host = without_brackets(host)
    if not (certificate or insecure or is_this_machine(host)):
        raise BadInput(
            f"on {host} tokens would travel without encryption: give --certificate and --key, or --insecure inside "
            "a network that you trust"
        )
    try:
        from jobs.farm.api import server, serving, usage
        from jobs.farm.api.clients import Clients, Traffic
    except ImportError as error:
        raise NotInstalled(
            f"the server needs starlette, uvicorn and prometheus-client ({error}): {install('server')}"
        ) from error
    if key and not certificate:
        raise click.UsageError("--key belongs to --certificate: give both")
    if certificate:
        serving.require_certificate(certificate, key, time.time())
    hook = notify.hook()
    with (
        opened(address, words, Device.parse(device), task_time) as (ledger, campaigns),
        serving.socket_of(host, port) as listener,
        ended_in_order() as received,
        written(log_format, log_lines.LOGGERS),
        ExitStack() as stack,
    ):
        ledger.require_writable()
        first = campaigns[0].name
        tokens = token_file or (None if first in words else Path(f"{first}.token"))
        if tokens is not None:
            if len(campaigns) > 1:
                raise click.UsageError("--token-file is for one campaign: serve one, or use `langford token`")
            stack.enter_context(worker_token(campaigns[0], tokens, "serve"))
        if replicate is not None:
            for campaign in campaigns:
                campaign.set_recheck_share(replicate)
        overviews = Overviews({campaign.name: campaign for campaign in campaigns})
        clients = Clients(proxies=proxies, traffic=Traffic(access_log))
        application = server.application(ledger, [each.name for each in campaigns], clients, overviews)
        url = log_lines.listening(listener, certificate is not None, campaigns)
        if tokens is not None:
            log_lines.worker_needs(_line(f"{url}/{first}", tokens, certificate, insecure))
        if until_closed:
            threading.Thread(target=_end_when_closed, daemon=True).start()
        if ready_file is not None:
            replace_file(ready_file, f"{url}\n".encode())
        shared: Mapping[Campaign, Shared[Overview]] = {each: overviews.of(each.name) for each in campaigns}
        with (
            notified(campaigns, hook, notify.stalled_after, log_lines.notice, lambda: LAST_SECONDS),
            reported(shared),
            usage.written(ledger, clients.charges),
        ):
            limits = serving.Serving(certificate, key)
            serving.serve(application, clients, listener, limits, lambda: bool(received))
        if ready_file is not None:
            ready_file.unlink(missing_ok=True)
        log_lines.stopped()


def _line(address: str, tokens: Path, certificate: str | None, insecure: bool) -> str:
    """The command of a worker."""
    trust = f" --certificate {shlex.quote(certificate)}" if certificate else " --insecure" if insecure else ""
    return f"langford work {address} --token-file {shlex.quote(str(tokens))}{trust}"


def _end_when_closed() -> None:
    """The program that started this server has ended, however it did."""
    with suppress(OSError):
        while os.read(0, 1024):
            pass
    os.kill(os.getpid(), signal.SIGTERM)


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
