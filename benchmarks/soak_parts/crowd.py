"""Many workers in one process, for the soak: each with its own host, token, outbox and leases.

CROWD_TOKENS="one two three" python benchmarks/soak_parts/crowd.py http://127.0.0.1:8765/NAME 4 OUTBOX
"""

from __future__ import annotations

import os
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec.structs import replace

from db.identity import Identity
from db.machines import HostName
from jobs.console import Console
from jobs.pools.evaluation import InProcessPool
from jobs.reach.outbox import Outbox
from jobs.reach.remote import RemoteServer
from jobs.run.loop import Run
from jobs.run.source import TaskSource
from langford.devices import CPU
from langford.errors import LangfordError


class Printed(Console):
    """Prints the remarks of one of many workers."""

    def __init__(self, number: int) -> None:
        self._number = number

    def say(self, message: str) -> None:
        print(f"{self._number}: {message}", file=sys.stderr, flush=True)


def work(url: str, seconds: float, root: Path, number: int, token: str) -> None:
    """One worker, from its start to the end of the campaign."""

    console = Printed(number)
    host = f"{os.environ.get('SOAK_HOST', 'crowd')}-{number}"
    me = replace(Identity.fresh([CPU]), host=HostName(host))
    outbox = Outbox(root, me, console)
    try:
        outbox.prepare()
        source = TaskSource(RemoteServer(url, token).campaign(), me, outbox, console, seconds)
        Run(source, [CPU], console, pool_of=InProcessPool).run()
    except LangfordError as error:
        console.say(f"{type(error).__name__}: {error}")


def main() -> None:
    url, seconds, root = sys.argv[1], float(sys.argv[2]), Path(sys.argv[3])
    tokens = os.environ["CROWD_TOKENS"].split()
    with ThreadPoolExecutor(len(tokens)) as pool:
        works = [pool.submit(work, url, seconds, root, *one) for one in enumerate(tokens)]
    for error in filter(None, (work.exception() for work in works)):
        traceback.print_exception(error)
        sys.exit(2)  # which no worker should end with


if __name__ == "__main__":
    main()
