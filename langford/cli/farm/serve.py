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
from db.store.addresses import file_of, url_of
from jobs.addresses import without_brackets
from jobs.farm.api.overviews import Overviews
from jobs.farm.entrance import entrance
from jobs.reach.join import SUFFIX
from jobs.show import log_lines
from jobs.show.reporter import reported
from langford.cli.campaigns.opening import opened
from langford.cli.campaigns.running import promise
from langford.cli.campaigns.tokens import worker_joins
from langford.cli.farm.logs import written
from langford.cli.options.common import (
    kind_option,
    ledger_option,
    replicate_option,
    task_time_option,
)
from langford.cli.options.groups import PROBLEM, problem_words
from langford.cli.options.notifying import NotifyOptions, notified, notify_options
from langford.devices import Device
from langford.errors import NotInstalled
from langford.machine.durable import replace_file
from langford.machine.outputs import READY, remove_output
from langford.version import install

PORT = 8765
LAST_SECONDS = 5.0
"""The time limit for the last notifications."""


@click.command(
    epilog="""\b
Examples:
  langford serve 28
  langford serve 28 --host 0.0.0.0
  langford serve near-skolem 25 missing 5 --join workers.join --task-time 2m
  langford serve langford-27-polyphase-16 --host 0.0.0.0 --certificate server.pem --key server.key
  langford serve langford-27-polyphase-16 --host 0.0.0.0 --insecure --reached-as https://proxy/farm"""
)
@problem_words(f"{PROBLEM} | NAME...")
@ledger_option
@kind_option
@task_time_option
@click.option(
    "--join",
    "join_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File for workers to join with; default: NAME.join beside the ledger.",
)
@click.option(
    "--reached-as",
    multiple=True,
    metavar="HOST|URL",
    help="A name or address by which workers reach this server, or a proxy in front of it; default: those of this "
    "machine, or of the certificate.",
)
@click.option(
    "--ready-file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write this file once it is ready, for scripts that wait for it.",
)
@click.option("--until-closed", is_flag=True, help="End when standard input is closed.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=PORT, show_default=True)
@click.option(
    "--certificate",
    type=click.Path(exists=True, dir_okay=False),
    help="TLS certificate chain, PEM; default: beyond this machine, one that this server makes.",
)
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
@notify_options
@click.option("--access-log", is_flag=True, help="Log each request.")
def serve(
    words: tuple[str, ...],
    address: str,
    device: str,
    task_time: float | None,
    join_file: Path | None,
    reached_as: tuple[str, ...],
    ready_file: Path | None,
    until_closed: bool,
    host: str,
    port: int,
    certificate: str | None,
    key: str | None,
    insecure: bool,
    proxies: tuple[str, ...],
    replicate: float | None,
    access_log: bool,
    notify: NotifyOptions,
) -> None:
    """Hand out the tasks of campaigns to workers anywhere, and take their results.

    For a PROBLEM, the campaign is created unless it exists.  NAME.join is written beside the ledger: copied to any
    machine that reaches this one, `langford work NAME.join` joins.
    """
    if ready_file is not None:
        remove_output(ready_file, READY)
    host = without_brackets(host)
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
    with opened(address, words, Device.parse(device), task_time) as (ledger, campaigns), ExitStack() as stack:
        ledger.require_writable()
        if join_file is not None and len(campaigns) > 1:
            raise click.UsageError("--join is for one campaign: serve one, or leave it out")
        listener = stack.enter_context(serving.socket_of(host, port))
        received = stack.enter_context(ended_in_order())
        stack.enter_context(written(log_lines.LOGGERS))
        folder = _folder_of(address) if join_file is None else join_file.parent
        chain = None if certificate is None else Path(certificate)
        reached = entrance(listener, host, reached_as, chain, insecure, folder)
        joins = {each.name: join_file or folder / f"{each.name}{SUFFIX}" for each in campaigns}
        for campaign in campaigns:
            stack.enter_context(worker_joins(campaign, joins[campaign.name], reached))
        for campaign in campaigns:
            promise(campaign, replicate)
        overviews = Overviews({campaign.name: campaign for campaign in campaigns})
        clients = Clients(proxies=proxies, traffic=Traffic(access_log))
        application = server.application(ledger, [each.name for each in campaigns], clients, overviews)
        log_lines.listening(reached.addresses[0], campaigns)
        for file in joins.values():
            log_lines.line(f"start workers with: langford work {shlex.quote(str(file))}")
        if until_closed:
            threading.Thread(target=_end_when_closed, daemon=True).start()
        if ready_file is not None:
            replace_file(ready_file, f"{reached.addresses[0]}\n".encode(), READY)
        shared: Mapping[Campaign, Shared[Overview]] = {each: overviews.of(each.name) for each in campaigns}
        with (
            notified(shared, hook, notify.stalled_after, log_lines.line, lambda: LAST_SECONDS),
            reported(shared),
            usage.written(ledger, clients.charges),
        ):
            limits = serving.Serving(None if reached.certificate is None else str(reached.certificate), key)
            serving.serve(application, clients, listener, limits, lambda: bool(received))
        if ready_file is not None:
            remove_output(ready_file, READY)
        log_lines.stopped()


def _folder_of(ledger: str) -> Path:
    """That of a ledger's file; of a database on a server, the working folder."""
    file = file_of(url_of(ledger))
    return Path() if file is None else file.parent


def _end_when_closed() -> None:
    """The program that started this server has ended, however it did."""
    with suppress(OSError):
        while os.read(0, 1024):
            pass
    os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def ended_in_order() -> Iterator[list[int]]:
    """Delay SIGTERM and Ctrl-C until the block has ended, so that the server can close its connections first.

    Yields a list that gets the signals which arrive before the server handles them, or which it has handled.
    """
    received = list[int]()
    before = {
        each: signal.signal(each, lambda number, frame: received.append(number))
        for each in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield received
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        if received:
            signal.raise_signal(received[0])
