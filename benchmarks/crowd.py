"""Many workers in one process, for the soak (soak.py): each with its own host, token, outbox and leases.

LANGFORD_TOKEN="one two three" python benchmarks/crowd.py http://127.0.0.1:8765/NAME 4 OUTBOX
"""

from __future__ import annotations

import os
import sys
import threading
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

from jobs.evaluation import evaluate
from jobs.farm.client import RemoteCampaign
from jobs.farm.outbox import Outbox
from jobs.farm.tasks import ServerTasks
from jobs.identity import Identity, process_name
from jobs.pool import PREFETCH, Finished
from jobs.run import Run
from langford.devices import CPU, Device
from langford.errors import LangfordError
from langford.methods import PlanKey, plan_of
from langford.provenance import kernel_hash


class OwnThread:
    """Implements jobs.pool.Pool: evaluates in the thread that asks for results."""

    def __init__(self, key: PlanKey, devices: Sequence[Device]) -> None:
        self._plan = plan_of(key)
        self._waiting: dict[int, int] = {}
        self.computing: dict[int, int | None] = {}

    @property
    def idle_slots(self) -> int:
        return PREFETCH - len(self._waiting)

    @property
    def idle_workers(self) -> int:
        return int(not self._waiting)

    @property
    def in_flight(self) -> list[int]:
        return list(self._waiting)

    def submit(self, token: int, index: int) -> None:
        self._waiting[token] = index

    def poll(self, timeout: float | None) -> Iterator[Finished]:
        if not self._waiting:
            threading.Event().wait(timeout)
        while self._waiting:
            token, index = self._waiting.popitem()
            yield Finished(token, evaluate(self._plan, index))

    def kill(self, token: int, reason: str) -> None:
        """Nothing hangs here."""

    def stop(self) -> None:
        """Nothing to end."""


def work(url: str, seconds: float, root: Path, number: int, token: str) -> None:
    """One worker, from its start to the end of the campaign."""

    def say(message: str) -> None:
        print(f"{number}: {message}", file=sys.stderr, flush=True)

    host = f"{os.environ.get('SOAK_HOST', 'crowd')}-{number}"
    me = Identity(str(uuid.uuid4()), host, process_name(os.getpid()), "cpu", kernel_hash())
    outbox = Outbox(root, me, say)
    try:
        outbox.prepare()
        source = ServerTasks(RemoteCampaign(url, token), outbox, me, say, seconds)
        Run(source, [CPU], say=say, pool_of=OwnThread).run()
    except LangfordError as error:
        say(f"{type(error).__name__}: {error}")


def main() -> None:
    url, seconds, root = sys.argv[1], float(sys.argv[2]), Path(sys.argv[3])
    tokens = os.environ["LANGFORD_TOKEN"].split()
    workers = [threading.Thread(target=work, args=(url, seconds, root, *one)) for one in enumerate(tokens)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main()
