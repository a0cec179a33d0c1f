"""A farm in one command: ledger, task server, queue keeper and log, and the count in the end."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from db import Standing
from db.states import TaskState
from langford.cli.campaigns.opening import begun_or_new, only, opened
from langford.cli.campaigns.running import answer_of
from langford.cli.cluster.job_options import JobOptions, QueueOptions, make_log_folder
from langford.cli.cluster.queue import LANGFORD, joining, keeper_of, logs_of, print_jobs, script_of
from langford.cli.exit_codes import ExitCode, StopSignals, code_of_signal
from langford.cli.options.notifying import NotifyOptions
from langford.cli.output import display
from langford.cli.output.progress import Terminal
from langford.devices import Device
from langford.errors import BadInput
from langford.ledger import Campaign, Ledger
from slurm.farm import FarmFolder, ServerEnded, join_file, served
from slurm.keeper import held

GRACE_SECONDS = 90.0
"""How long the server stays when all is done, for workers that have to hear it; they ask at least once a minute."""
FARM = "farm"
"""The folder of the farm, in that of the logs."""
UNKNOWN = "x" * 8
"""In the place of the digits of a UUID that does not exist yet."""


class FarmTerminal(Terminal):
    """The console of the keeper, which stops when the server does."""

    def __init__(self, stop: StopSignals, server: subprocess.Popen[bytes]) -> None:
        super().__init__(stop=stop)
        self._server = server

    @property
    def lost(self) -> bool:
        return self._server.poll() is not None

    def stop_reason(self) -> str | None:
        return super().stop_reason() or ("the task server has ended" if self.lost else None)


def farmed(
    words: Sequence[str],
    queue: QueueOptions,
    job: JobOptions,
    task_seconds: float | None,
    host: str | None,
    notify: NotifyOptions,
    as_json: bool,
    stop: StopSignals,
) -> int:
    """Run a farm until the count of its campaign is there, and print it; returns the exit code.

    Raises BadInput, ServerEnded, QueueNotKept, and as :func:`langford.cli.campaigns.opening.opened`.
    """
    if job.dry_run:
        _print(words, queue, job, task_seconds, as_json)
        return ExitCode.DONE
    if host is not None:
        _require_known(host)
    with opened(queue.address, words, Device.parse(queue.device), task_seconds) as (_, campaigns):
        campaign = only(campaigns)
        if not campaign.reader.standing().to_do:
            return answer_of(campaign).print(as_json)
        name, logs = campaign.name, logs_of(campaign.name, job)
        make_log_folder(logs)
        folder = FarmFolder(logs / FARM)
    with ExitStack() as stack:
        stack.enter_context(held(folder.folder / "farm.lock"))
        server = stack.enter_context(
            served(_command(name, queue, folder, host, notify), folder, _environment(notify))
        )
        console = FarmTerminal(stop, server)
        url = folder.ready.read_text().strip()
        display.say(f"{name} is served at {url}; logs are in {logs}, the server's is {folder.log}")
        code = _kept(name, folder, queue, job, console, stop, as_json)
    if code is not None:
        return code
    with Ledger(queue.address) as ledger:
        return answer_of(ledger.named(name)).print(as_json)


def _print(
    words: Sequence[str], queue: QueueOptions, job: JobOptions, task_seconds: float | None, as_json: bool
) -> None:
    """Print the script of the jobs; no campaign is created, and no server runs.  Raises as :func:`opened`."""
    with begun_or_new(queue.address, words, Device.parse(queue.device), task_seconds) as meant:
        if isinstance(meant, Campaign):
            name, uuid, key, standing = meant.name, meant.uuid, meant.key, meant.reader.standing()
        else:
            name, uuid, key, work = meant.key.name, UNKNOWN, meant.key, meant.plan.work
            standing = Standing({TaskState.READY: len(work)}, {TaskState.READY: float(work.sum())})
            display.say(f"{name} is not created yet: that decides the {UNKNOWN} in the name of its jobs")
    script = script_of(name, joining(join_file(logs_of(name, job) / FARM)), queue, job)
    print_jobs(name, uuid, key, standing, script, queue, job, as_json)


def _kept(
    name: str,
    folder: FarmFolder,
    queue: QueueOptions,
    job: JobOptions,
    console: FarmTerminal,
    stop: StopSignals,
    as_json: bool,
) -> int | None:
    """Keep the queue; returns None when all is done, or the exit code of a farm that was stopped."""
    keeper = keeper_of(name, replace(queue, join=folder.join), job, as_json, console)
    assert keeper is not None
    reason = keeper.run(job.logs / name)
    if reason is None:
        keeper.wait_for_workers(GRACE_SECONDS)
        return None
    if console.lost:
        raise ServerEnded(f"the task server has ended: read {folder.log}, then start the farm again")
    display.say(f"stopped by {reason}: the workers keep their results; run the same command again to resume")
    if as_json:
        display.print_json({"campaign": name, "done": False})
    assert stop.received is not None
    return code_of_signal(stop.received)


def _command(
    name: str, queue: QueueOptions, folder: FarmFolder, host: str | None, notify: NotifyOptions
) -> list[str]:
    return [
        *(*LANGFORD, "serve", name, "--ledger", queue.address, "--host", "0.0.0.0", "--port", str(folder.port())),
        *(("--reached-as", host) if host is not None else ()),
        *("--join", str(folder.join), "--ready-file", str(folder.ready), "--until-closed"),
        *("--stalled-after", str(notify.stalled_after)),
    ]


def _environment(notify: NotifyOptions) -> Mapping[str, str]:
    """That of the server, which sends the notifications; a command may have secrets, which no list shows."""
    return os.environ if notify.command is None else {**os.environ, "LANGFORD_NOTIFY_COMMAND": notify.command}


def _require_known(host: str) -> None:
    try:
        socket.getaddrinfo(host, None)
    except OSError as error:
        raise BadInput(
            f"the name of this machine, {host}, has no address ({error.strerror}): give --host the name by which "
            "the nodes know it"
        ) from error
