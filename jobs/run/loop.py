"""The loop of every worker: lease, evaluate, deliver, renew, stop.

It works for any source of tasks.  It can be killed at any moment: delivered results are safe, and its leases
expire, or the next run on this host releases them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from db import Delivery, Lease
from db.states import Ending, Outcome
from jobs.clock import SYSTEM, Clock
from jobs.console import SILENT, Console, Step
from jobs.pools.pool import Died, Failed, Finished, Pool
from jobs.pools.process_pool import WorkerPool
from jobs.reach.requests import CampaignReplaced
from jobs.run.effort import Effort
from jobs.run.limits import PATIENCE_SECONDS, KnownSpeed, TimeLimit, Watch
from jobs.run.source import TaskSource
from langford.devices import Device
from langford.errors import LangfordError, MachineFailed
from langford.machine.process import compiling_words
from langford.methods import PlanKey
from langford.methods.speed import Speed
from langford.words import duration, several

PREEMPTION = "SIGTERM"
"""The reason to stop of a worker that a scheduler takes away."""
OUT_OF_TIME = "time limit"
READY_SECONDS = 0.05
"""Time between two questions to a source that is not ready."""


@dataclass(frozen=True)
class RunReport:
    """What one run did, and why it ended."""

    tasks_here: int
    seconds: float
    stopped: str | None  # why it stopped early; None when nothing was left to do here
    set_aside: int  # number of tasks of the campaign that failed too often
    given_back: int = 0  # number of its leases that others can have at once

    def set_aside_words(self, campaign: str, where: str = "") -> str:
        """How many tasks were set aside, and what to do; ``campaign``: its name, ``where``: it is done."""
        return (
            f"{several(self.set_aside, 'task is', 'tasks are')} set aside (failed too often, or cancelled); see "
            f"`langford tasks {campaign} --state set-aside`{where}, then `langford retry {campaign}`"
        )


class Run:
    """The loop of one worker, from its first question to its end; it runs once."""

    def __init__(
        self,
        source: TaskSource,
        devices: Sequence[Device],
        console: Console = SILENT,
        time_limit: float | None = None,
        pool_of: Callable[[PlanKey, Sequence[Device]], Pool] = WorkerPool,
        patience: float = PATIENCE_SECONDS,
        clock: Clock = SYSTEM,
        probe: Callable[[PlanKey], Speed | None] = lambda key: None,
    ) -> None:
        """
        Args:
            console: gets remarks and the progress, and may stop the run.
            time_limit: seconds; no task starts that would probably end later, and the run waits for none that takes
                much longer than it should.
            patience: seconds that every task may take.  Beyond them, and beyond a multiple of what it should take,
                its process is killed.
            probe: measures the speed here before the first task; None: unknown.  Called only with a time limit, and
                when the campaign's results leave no time for it.
        """
        self._source, self._devices, self._pool_of = source, devices, pool_of
        self._console = console
        self._effort, self._clock, self._speed = Effort(clock), clock, KnownSpeed(lambda: probe(source.key))
        self._watch = Watch(self._speed, patience, clock)
        self._limit = TimeLimit(time_limit, self._speed, clock)
        self._stock: list[int] = []
        # By tokens of our own: a ledger that is restored from a backup grants the same attempts again.
        self._tokens = itertools.count()
        self._leases: dict[int, Lease] = {}
        self._compiling_said, self._given_back = False, 0

    def run(self) -> RunReport:
        """Work until nothing is left to do here, or until there is a reason to stop.

        Raises what the source raises, and WorkersKeepDying; the leases are given back first.
        """
        try:
            stopped = self._await_source()
            if stopped is None:
                self._console.show(self._step())
                workers = self._source.useful(len(self._devices))
                if workers:
                    stopped = self._work_with(self._pool_of(self._source.key, self._devices[:workers]))
        except LangfordError as error:
            with suppress(LangfordError):
                self._source.close(Ending.REPLACED if isinstance(error, CampaignReplaced) else Ending.STOPPED)
            raise
        self._source.close(_ending(stopped))
        return RunReport(
            self._effort.tasks, self._effort.seconds, stopped, self._source.set_aside, self._given_back
        )

    def _await_source(self) -> str | None:
        """None: the campaign is known; else the reason to stop before that."""
        while True:
            stopped = self._console.stop_reason() or (None if self._limit.left > 0 else OUT_OF_TIME)
            if stopped or self._source.ready:
                return stopped
            self._clock.wait(READY_SECONDS)

    def _work_with(self, pool: Pool) -> str | None:
        """Run the loop; at its end, also after an error, stop the pool and give the leases back."""
        try:
            stopped = self._work(pool)
        except BaseException:
            pool.stop()
            # When the ledger itself failed, this probably fails too; then the leases expire.
            with suppress(LangfordError):
                self._give_back(Outcome.RELEASED, "the run ended with an error")
            raise
        pool.stop()
        self._give_back(Outcome.PREEMPTED if stopped == PREEMPTION else Outcome.RELEASED, stopped)
        return stopped

    def _work(self, pool: Pool) -> str | None:
        """Why it stopped early, or None when nothing is left to do here."""
        draining = None
        while True:
            stopped = self._console.stop_reason()
            if stopped:
                self._handle(list(pool.poll(0)))
                return stopped
            if draining is None and not self._feed(pool):
                draining = OUT_OF_TIME
                self._return_stock()
            if draining and pool.in_flight and not any(map(self._is_worth_waiting_for, pool.in_flight)):
                late = several(len(pool.in_flight), "task takes", "tasks take")
                self._console.say(f"the time limit has passed, and {late} longer than expected: given back")
                return draining
            if not pool.in_flight and (draining or self._source.exhausted):
                return draining
            if self._leases and all(lease.is_copy for lease in self._leases.values()) and self._source.finished:
                return None  # others were faster with everything
            self._look(pool)  # after asking for tasks: a result goes along with the request for the next one
            # The wait is short, so that signals are noticed soon; a result ends it at once.
            self._handle(list(pool.poll(self._source.wait_seconds)))
            self._say_what_compiles(pool)
            self._console.show(self._step())

    def _say_what_compiles(self, pool: Pool) -> None:
        if pool.compiles and not self._compiling_said:
            self._compiling_said = True
            self._console.say(compiling_words(f"of {self._source.key.method}"))

    def _feed(self, pool: Pool) -> bool:
        """Lease tasks and give them to the workers; returns whether there is time for the next one."""
        if self._limit.left <= 0:
            return False
        if not self._stock and pool.idle_slots:
            wanted = self._effort.batch(pool.idle_slots)
            leases = self._source.lease(wanted, self._leases.values(), pool.idle_workers)
            self._speed.recorded = self._source.recorded
            if leases:
                self._limit.begin(leases[0].work)
            stock = dict(zip(self._tokens, leases, strict=False))
            self._stock = list(stock)
            self._leases |= stock
        while self._stock and pool.idle_slots:
            work = self._leases[self._stock[0]].work
            is_first = pool.idle_workers > 0
            if not self._limit.fits(
                work, 0.0 if is_first else max(map(self._seconds_left, pool.in_flight), default=0.0)
            ):
                if is_first:
                    self._say_that_none_fits(work)
                return not is_first  # otherwise the worker starts it when it is free, if there is time then
            token = self._stock.pop(0)
            pool.submit(token, self._leases[token].index)
        return True

    def _say_that_none_fits(self, work: float) -> None:
        expected = self._speed.expected(work)
        if not self._effort.tasks and not self._leases.keys() - self._stock and expected is not None:
            takes, left = duration(expected), duration(self._limit.left)
            self._console.say(
                f"no task was started: the next one takes about {takes}, and {left} of the time limit is left; "
                "give a longer limit, or create the campaign with a larger --depth, whose tasks are shorter"
            )

    def _seconds_left(self, token: int) -> float:
        expected = self._speed.expected(self._leases[token].work) or 0.0
        return max(0.0, expected - (self._watch.seconds(token) or 0.0))

    def _is_worth_waiting_for(self, token: int) -> bool:
        return self._limit.is_worth_waiting_for(self._leases[token].work, self._watch.seconds(token))

    def _return_stock(self) -> None:
        unused = {token: self._leases.pop(token) for token in self._stock}
        self._stock = []
        if unused:
            self._source.release(unused.values(), Outcome.RELEASED, OUT_OF_TIME, self._computed(unused))

    def _look(self, pool: Pool) -> None:
        """Renew the leases, and end the processes of tasks that exceed their limit of time."""
        found = pool.computing
        self._watch.look(found)
        computing = found or {}
        steps = {self._leases[token].attempt: made for token, made in computing.items() if made is not None}
        self._source.attend(self._leases.values(), steps, self._computed(self._leases))
        for token in computing:
            lease = self._leases[token]
            overdue = self._watch.overdue(token, lease.work)
            if overdue:
                made = computing[token]
                progress = f" and {made} steps" if made else ""  # ranks of MPI do not report theirs
                reason = f"task {lease.index} {overdue}{progress}: its process was killed"
                try:
                    pool.kill(token, reason)
                except MachineFailed:
                    self._source.complain(self._leases.pop(token), Outcome.DIED, reason, self._watch.seconds(token))
                    raise

    def _computed(self, leases: Mapping[int, Lease]) -> dict[int, float]:
        """For how many seconds each task was evaluated, by attempt, where the pool tells; ``leases``: by token."""
        seconds = {lease.attempt: self._watch.seconds(token) for token, lease in leases.items()}
        return {attempt: passed for attempt, passed in seconds.items() if passed is not None}

    def _handle(self, messages: list[Finished | Failed | Died]) -> None:
        finished = [message for message in messages if isinstance(message, Finished)]
        if finished:
            self._deliver(finished)
        for message in messages:
            if isinstance(message, Failed):
                computed = self._watch.seconds(message.token)
                self._source.complain(self._leases.pop(message.token), Outcome.FAILED, message.reason, computed)
            elif isinstance(message, Died):
                self._release(message)

    def _deliver(self, finished: list[Finished]) -> None:
        leases = [self._leases.pop(message.token) for message in finished]
        delivered = [
            (lease, Delivery.of(lease, message.evaluation)) for lease, message in zip(leases, finished, strict=True)
        ]
        self._source.deliver(delivered)
        for lease, delivery in delivered:
            self._effort.finished(delivery.evaluation.seconds)
            self._speed.saw(lease.work, delivery.evaluation.seconds)

    def _release(self, message: Died) -> None:
        """Give back the tasks of a worker process that died; the ledger counts the deaths on what it evaluated."""
        leases = {token: self._leases.pop(token) for token in message.tokens}
        self._console.say(f"{message.reason}; its tasks go back to the queue")
        evaluated = {token: leases.pop(token) for token in message.tokens if token == message.evaluated}
        self._source.release(leases.values(), Outcome.PREEMPTED, message.reason, self._computed(leases))
        for token, lease in evaluated.items():
            if self._source.complain(lease, Outcome.DIED, message.reason, self._watch.seconds(token)):
                return  # it was the task, and no fault of this machine
        self._effort.died(message.reason)

    def _give_back(self, outcome: Outcome, note: str | None) -> None:
        if self._leases:
            self._source.release(self._leases.values(), outcome, note, self._computed(self._leases))
            self._given_back = len(self._leases)

    def _step(self) -> Step:
        tally = self._source.tally
        return Step(tally.tasks, tally.work, tally.tasks_here, tally.work_here, self._source.seconds_left)


def _ending(stopped: str | None) -> Ending:
    if stopped is None:
        return Ending.FINISHED
    return Ending.PREEMPTED if stopped == PREEMPTION else Ending.STOPPED
