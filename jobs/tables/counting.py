"""Count the entries of a table: a campaign for each problem, the smallest first, in a ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import fsum, inf

from db import Campaign, Ledger
from db.errors import Away, CampaignMismatch
from db.identity import Identity
from jobs.clock import SYSTEM, Clock
from jobs.console import Console, Step
from jobs.pools.evaluation import InProcessPool
from jobs.pools.process_pool import WorkerPool
from jobs.reach.outbox import Outbox
from jobs.reach.patience import Calls, Patience
from jobs.run.loop import OUT_OF_TIME, Run
from jobs.run.source import TaskSource
from jobs.tables.entries import Entry, Row
from jobs.tables.forecast import TableForecast
from jobs.verify.agreement import agreement, recomputing
from jobs.verify.recomputation import sources
from langford.errors import CheckFailed, Incomplete
from langford.methods import Count, PlanKey, plan_of
from langford.methods.speed import Speed
from langford.problem import Problem
from langford.problem.pattern import Pattern
from langford.problem.reference import known_of
from langford.words import seconds_left, several


class Interrupted(Incomplete):
    """The table is not complete: a signal or a time limit came first."""


class HeldByOthers(Incomplete):
    """A campaign is not complete: other workers hold all tasks that are left."""


@dataclass(frozen=True)
class Counted:
    """What a finished campaign tells a table."""

    name: str
    method: str  # by which it counted, in words: with its seed, where another sum of the method has none
    count: Count
    seconds: float
    sources: tuple[str, ...]  # the kernels and devices that its results come from, in words
    unpromised: bool  # whether files were imported into the campaign, and no promise is recorded


class TableCounting:
    """Counts what a ledger has no count of."""

    def __init__(
        self,
        forecast: TableForecast,
        ledger: Ledger,
        console: Console,
        time_limit: float | None = None,
        outbox_of: Callable[[Identity, Console], Outbox | None] = lambda *_: None,
        clock: Clock = SYSTEM,
    ) -> None:
        """
        Args:
            time_limit: seconds; no task starts that would probably end later.
            outbox_of: where the results of a worker wait while the ledger is away; None: in memory.
        """
        self._forecast, self._ledger, self._console = forecast, ledger, console
        self._outbox_of, self._clock, self._choice = outbox_of, clock, forecast.choice
        self._time_limit = inf if time_limit is None else time_limit
        self._choice.look(ledger)
        self._shares = {problem: [*shares] for problem, shares in forecast.shares.items()}
        self._began, self._done = clock.monotonic(), 0.0

    def rows(self) -> list[Row]:
        """The rows of the table, when all is counted.

        What other workers count, such as a second run of the same table, is looked at again at the end.

        Raises:
            Interrupted: a signal or the time limit came first.
            Incomplete: tasks of a campaign failed too often, or other workers hold the rest.
            CheckFailed: a count contradicts a second one, or what is known of it.
        """
        counted: dict[Pattern, tuple[Counted, Counted | None]] = {}
        later = []
        for problem in self._forecast.expected:
            try:
                counted[problem.pattern] = self._patiently_counted(problem, len(counted))
            except Interrupted:
                raise
            except Incomplete:
                later.append(problem)
        for problem in later:
            counted[problem.pattern] = self._patiently_counted(problem, len(counted))
        return [_row(entry, counted) for entry in self._forecast.entries]

    @property
    def _seconds_left(self) -> float:
        return self._time_limit - (self._clock.monotonic() - self._began)

    def _patiently_counted(self, problem: Problem, number: int) -> tuple[Counted, Counted | None]:
        """Resumes while the ledger is away."""
        patience = Patience(self._console, "the ledger", self._clock)
        try:
            return patience.insist(lambda: self._counted(problem, number), self._seconds_left)
        except Away as error:
            raise self._interrupted(self._console.stop_reason() or OUT_OF_TIME, number) from error

    def _interrupted(self, reason: str, done: int) -> Interrupted:
        counts = several(len(self._forecast.expected), "count")
        return Interrupted(f"stopped ({reason}) after {done} of {counts}: run the same command again to resume")

    def _counted(self, problem: Problem, number: int) -> tuple[Counted, Counted | None]:
        """The second confirms the first."""
        campaign = self._campaign(problem)
        try:
            first = self._finish(problem, 0, campaign, number)
        except HeldByOthers:
            if self._forecast.sums == 2:
                self._finish(problem, 1, self._confirming(problem, campaign), number)
            raise
        _require_agreement(problem, first)
        if self._forecast.sums == 1:
            return first, None
        second = self._finish(problem, 1, self._confirming(problem, campaign), number)
        if first.count.arrangements != second.count.arrangements:
            _require_agreement(problem, second)
            one, other = (problem.published(each.count.arrangements) for each in (first, second))
            raise CheckFailed(
                f"{problem}: {first.name} counts {one:,} and {second.name} {other:,}; find the wrong result with "
                f"{recomputing(first.name, second.name)}"
            )
        return first, second

    def _finish(self, problem: Problem, which: int, campaign: Campaign, number: int) -> Counted:
        if campaign.reader.standing().missing:
            self._run(problem, which, campaign, number)
        count, origins = campaign.reader.merged(), tuple(sources(campaign.reader.export().results, by_model=True))
        seconds, unpromised = campaign.reader.seconds(), campaign.reader.promise() is None
        return Counted(campaign.name, _method_words(campaign.key), count, seconds, origins, unpromised)

    def _run(self, problem: Problem, which: int, campaign: Campaign, number: int) -> None:
        """Raises Interrupted, HeldByOthers or Incomplete."""
        share = self._shares[problem][which]
        console = PartOfTable(self._console, campaign, share, lambda done: self._show(number, self._done + done))
        stopped = console.stop_reason()
        if stopped:
            raise self._interrupted(stopped, number)
        devices = self._choice.devices(problem)
        limit = None if self._time_limit == inf else max(0.0, self._seconds_left)
        pool = InProcessPool if self._choice.small(problem) else WorkerPool
        identity = Identity.fresh(devices)
        outbox = self._outbox_of(identity, console)
        source = TaskSource(Calls(console).through(campaign.worker), identity, outbox, console)
        left = campaign.work - campaign.reader.standing().work_done
        speed = Speed(share * len(devices) / left) if left > 0 else None
        report = Run(source, devices, console, limit, pool, probe=lambda key: speed).run()
        self._done += console.done
        self._shares[problem][which] -= console.done
        if report.set_aside:
            raise Incomplete(report.set_aside_words(campaign.name))
        if not campaign.reader.standing().missing:
            return
        if report.stopped:
            raise self._interrupted(report.stopped, number)
        raise HeldByOthers(f"other workers hold the rest of {campaign.name}: run the same command again")

    def _show(self, number: int, done: float) -> None:
        """``done``: expected seconds of all that is done."""
        left = seconds_left(self._forecast.seconds, done, self._clock.monotonic() - self._began)
        self._console.show(Step(number, done, number, done, left))

    def _campaign(self, problem: Problem) -> Campaign:
        """One of the ledger, else a new one."""
        return self._choice.first(problem) or self._create(self._choice.plan(problem))

    def _confirming(self, problem: Problem, first: Campaign) -> Campaign:
        """One of the ledger, else a new one, by another sum."""
        found = self._choice.second(problem, first.key)
        return found or self._create(self._choice.confirming_plan(problem, first.key))

    def _create(self, key: PlanKey) -> Campaign:
        """Where another plan has the name, a number is added."""
        free, number, work = key.name, 1, plan_of(key).work.tolist()
        while True:
            try:
                return self._ledger.create_campaign(free, key, work)
            except CampaignMismatch:
                number += 1
                free = f"{key.name}-{number}"


def _require_agreement(problem: Problem, counted: Counted) -> None:
    """Raises CheckFailed when what is known of a count contradicts it."""
    number = problem.published(counted.count.arrangements)
    known = agreement(problem, number)
    if known.agrees is False:
        raise CheckFailed(
            f"{problem} = {number:,} is wrong ({known.words}); find the "
            f"wrong result with {recomputing(counted.name)}"
        )


def _method_words(key: PlanKey) -> str:
    return f"{key.method} with seed {key.seed}" if key.seed else key.method


def _row(entry: Entry, counted: Mapping[Pattern, tuple[Counted, Counted | None]]) -> Row:
    if not entry.problems:
        return Row(entry, 1, 1)
    problems = [problem for problem in entry.problems if not problem.obstruction]
    sums = [counted[pattern] for pattern in dict.fromkeys(problem.pattern for problem in problems)]
    firsts = [first for first, _ in sums]
    seconds = [second for _, second in sums if second is not None]
    counts = [counted[problem.pattern][0].count.arrangements for problem in problems]
    known = known_of(problems)
    if known is not None and known.arrangements != sum(counts):
        source, find = (
            known.source(known.arrangements, mirror_images=True),
            recomputing(*(one.name for one in firsts)),
        )
        raise CheckFailed(
            f"the counts for n = {entry.n} add up to {sum(counts):,}, not to the published {known.arrangements:,} "
            f"({source}): find the wrong result with {find}"
        )
    return Row(
        entry,
        sum(problem.published(count) for problem, count in zip(problems, counts, strict=True)),
        sum(counts),
        tuple(each.name for each in firsts),
        tuple(dict.fromkeys(each.method for each in firsts)),
        tuple(dict.fromkeys(each.method for each in seconds)),
        fsum(each.seconds for each in (*firsts, *seconds)),
        tuple(dict.fromkeys(words for each in (*firsts, *seconds) for words in each.sources)),
        any(all(each.unpromised for each in both if each is not None) for both in sums),
    )


class PartOfTable(Console):
    """The console of one campaign, whose remarks another console shows."""

    def __init__(
        self, console: Console, campaign: Campaign, share: float, progressed: Callable[[float], object]
    ) -> None:
        """
        Args:
            console: of the table.
            campaign: that is counted now.
            share: expected seconds of what is left of the campaign.
            progressed: called with the seconds of what is done.
        """
        self._console, self._share, self._progressed = console, share, progressed
        self._found, self._work = campaign.reader.standing().work_done, campaign.work
        self.done = 0.0

    def say(self, message: str) -> None:
        self._console.say(message)

    def show(self, step: Step) -> None:
        part = (step.work_done - self._found) / (self._work - self._found) if self._work > self._found else 1.0
        self.done = self._share * min(1.0, max(0.0, part))
        self._progressed(self.done)

    def stop_reason(self) -> str | None:
        return self._console.stop_reason()
