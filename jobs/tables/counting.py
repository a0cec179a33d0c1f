"""Count the entries of a table: a campaign for each problem, the smallest first, in a ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, inf

from db import Campaign, Ledger
from db.errors import Away, CampaignMismatch
from jobs.clock import SYSTEM, Clock
from jobs.console import Console, Step
from jobs.pools.evaluation import InProcessPool
from jobs.pools.kept_workers import KeptWorkers
from jobs.reach.identity import Identity
from jobs.reach.in_ledger import InLedger
from jobs.reach.outbox import Outbox
from jobs.reach.patience import Patience
from jobs.run.loop import OUT_OF_TIME, Run, result
from jobs.run.source import TaskSource
from jobs.tables.begun import Begun, Found
from jobs.tables.entries import Entry, Row, Shape, representative
from jobs.tables.method_choice import MethodChoice
from jobs.tables.part import PartOfTable
from jobs.verify.agreement import agreement
from jobs.verify.confirmation import confirming_plan
from jobs.verify.recomputation import sources
from langford.devices import Device
from langford.errors import CheckFailed, Incomplete
from langford.methods import Count, PlanKey, chosen_plan, find_method, plan_of
from langford.problem import Problem
from langford.problem.reference import known_of
from langford.words import seconds_left, several

MIN_SECONDS = 0.05
"""What the smallest count takes, with its campaign."""


class Interrupted(Incomplete):
    """The table is not complete: a signal or a time limit came first."""

    def __init__(self, reason: str, done: int, wanted: int) -> None:
        super().__init__(
            f"stopped ({reason}) after {done} of {several(wanted, 'count')}: run the same command again to resume"
        )


class HeldByOthers(Incomplete):
    """A campaign is not complete: other workers hold all tasks that are left."""


@dataclass(frozen=True)
class Counted:
    name: str
    method: str  # by which it counted, in words: with its seed, where another sum of the method has none
    count: Count
    seconds: float
    sources: tuple[str, ...]  # the kernels and devices that its results come from, in words
    unpromised: bool  # whether files were imported into the campaign, and no promise is recorded


class TableCounting:
    """What a table has to count, and how long that takes; then the campaigns that count it.

    Attributes:
        expected: seconds for each problem, the shortest first, without what the ledger has; 0 where it has all.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        devices: Sequence[Device],
        confirm: bool,
        console: Console,
        time_limit: float | None = None,
        clock: Clock = SYSTEM,
        ledger: Ledger | None = None,
    ) -> None:
        """Find what is to be counted, and how long that takes.

        ``time_limit``: seconds; no task starts that would probably end later.
        Raises as :func:`langford.methods.chosen_plan`.
        """
        self._entries, self._sums = entries, 1 + confirm
        self._console, self._clock = console, clock
        self._time_limit = inf if time_limit is None else time_limit
        wanted = [problem for entry in entries for problem in entry.problems if not problem.obstruction]
        problems = {representative(problem): problem for problem in reversed(wanted)}
        self._choice = MethodChoice(problems.values(), devices)
        self._begun = Begun(ledger)
        left = {problem: self._parts_left(problem) for problem in problems.values()}
        seconds = self._choice.seconds([problem for problem, parts in left.items() if any(parts)])
        self._shares = {
            problem: [part * max(MIN_SECONDS, seconds.get(problem, 0.0)) for part in parts]
            for problem, parts in left.items()
        }
        expected = {problem: fsum(shares) for problem, shares in self._shares.items()}
        self.expected = dict(sorted(expected.items(), key=lambda each: (each[1], each[0].n, each[0].name)))
        self._done = 0.0

    @property
    def seconds(self) -> float:
        return fsum(self.expected.values())

    @property
    def found(self) -> int:
        return sum(not seconds for seconds in self.expected.values())

    def rows(
        self, ledger: Ledger, outbox_of: Callable[[Identity, Console], Outbox | None] = lambda *_: None
    ) -> list[Row]:
        """Count what the ledger has no count of; returns the rows of the table.

        What other workers count, such as a second run of the same table, is looked at again at the end.
        ``outbox_of``: where the results of a worker wait while the ledger is away; None: in memory.

        Raises:
            Interrupted: a signal or the time limit came first.
            Incomplete: tasks of a campaign failed too often, or other workers hold the rest.
            CheckFailed: a count contradicts a second one, or what is known of it.
        """
        self._ledger, self._begun, self._outbox_of = ledger, Begun(ledger), outbox_of
        self._began = self._clock.monotonic()
        counted: dict[Shape, tuple[Counted, Counted | None]] = {}
        later = []
        with KeptWorkers() as self._workers:
            for problem in self.expected:
                try:
                    counted[representative(problem)] = self._patiently_counted(problem, len(counted))
                except Interrupted:
                    raise
                except Incomplete:
                    later.append(problem)
            for problem in later:
                counted[representative(problem)] = self._patiently_counted(problem, len(counted))
        return [_row(entry, counted) for entry in self._entries]

    @property
    def _seconds_left(self) -> float:
        return self._time_limit - (self._clock.monotonic() - self._began)

    def _patiently_counted(self, problem: Problem, number: int) -> tuple[Counted, Counted | None]:
        """Resumes while the ledger is away."""
        patience = Patience(self._console, "the ledger", self._clock)
        try:
            return patience.insist(lambda: self._counted(problem, number), self._seconds_left)
        except Away as error:
            raise Interrupted(self._console.stop_reason() or OUT_OF_TIME, number, len(self.expected)) from error

    def _counted(self, problem: Problem, number: int) -> tuple[Counted, Counted | None]:
        """The second confirms the first."""
        campaign = self._campaign(problem)
        try:
            first = self._finish(problem, 0, campaign, number)
        except HeldByOthers:
            if self._sums == 2:
                self._finish(problem, 1, self._confirming(problem, campaign), number)
            raise
        _require_agreement(problem, first)
        if self._sums == 1:
            return first, None
        second = self._finish(problem, 1, self._confirming(problem, campaign), number)
        if first.count.arrangements != second.count.arrangements:
            _require_agreement(problem, second)
            raise CheckFailed(
                f"{problem}: {first.name} counts {first.count.published:,} and {second.name} "
                f"{second.count.published:,}; find the wrong result with `langford verify {first.name} --sample "
                f"100%` and `langford verify {second.name} --sample 100%`"
            )
        return first, second

    def _finish(self, problem: Problem, which: int, campaign: Campaign, number: int) -> Counted:
        if _tasks_left(campaign):
            self._run(problem, which, campaign, number)
        count, origins = result(campaign), tuple(sources(campaign.export().results, by_model=True))
        seconds, unpromised = campaign.progress().seconds, campaign.promise() is None
        return Counted(campaign.name, _method_words(campaign.key), count, seconds, origins, unpromised)

    def _run(self, problem: Problem, which: int, campaign: Campaign, number: int) -> None:
        """Raises Interrupted, HeldByOthers or Incomplete."""
        share = self._shares[problem][which]
        console = PartOfTable(self._console, campaign, share, lambda done: self._show(number, self._done + done))
        stopped = console.stop_reason()
        if stopped:
            raise Interrupted(stopped, number, len(self.expected))
        devices = self._choice.devices(problem)
        limit = None if self._time_limit == inf else max(0.0, self._seconds_left)
        pool = InProcessPool if self._choice.small(problem) else self._workers.pool
        identity = Identity.fresh(devices)
        outbox = self._outbox_of(identity, console)
        source = TaskSource(InLedger(self._ledger, campaign, console), identity, outbox, console)
        left = campaign.work - campaign.standing().work_done
        pace = share * len(devices) / left if left > 0 else None
        report = Run(source, devices, console, limit, pool, probe=lambda key: pace).run()
        self._done += console.done
        self._shares[problem][which] -= console.done
        if report.set_aside:
            raise Incomplete(
                f"tasks of {campaign.name} are set aside, because they failed too often or it was cancelled: see "
                f"`langford tasks {campaign.name} --state set-aside`, then `langford retry {campaign.name}`"
            )
        if not _tasks_left(campaign):
            return
        if report.stopped:
            raise Interrupted(report.stopped, number, len(self.expected))
        raise HeldByOthers(f"other workers hold the rest of {campaign.name}: run the same command again")

    def _show(self, number: int, done: float) -> None:
        """``done``: expected seconds of all that is done."""
        left = seconds_left(self.seconds, done, self._clock.monotonic() - self._began)
        self._console.show(Step(number, done, number, done, left))

    def _parts_left(self, problem: Problem) -> list[float]:
        """0 of a sum that the ledger has, 1 of one that has not begun."""
        first = self._found_first(problem)
        left = [1.0 if first is None else first.left]
        if self._sums == 2:
            key = PlanKey(problem, self._choice.first(problem).name, 0) if first is None else first.campaign.key
            second = self._found_second(problem, key)
            left.append(1.0 if second is None else second.left)
        return left

    def _found_first(self, problem: Problem) -> Found | None:
        """A finished campaign, else one by the method of choice."""
        return self._begun.finished(problem) or self._begun.nearest(problem, self._choice.first(problem).name)

    def _found_second(self, problem: Problem, first: PlanKey) -> Found | None:
        """By another sum, and not one that was cancelled."""
        finished, live = self._begun.finished(problem, first), self._begun.live_methods(problem, first)
        if finished or not live:
            return finished
        method = self._choice.second(problem, first, live).name
        return self._begun.nearest(problem, method, first) if method in live else None

    def _campaign(self, problem: Problem) -> Campaign:
        """One of the ledger, else a new one."""
        found = self._found_first(problem)
        if found:
            return found.campaign
        method, device = self._choice.first(problem), self._choice.devices(problem)[0]
        key = chosen_plan(problem, device, method.name, self._choice.depth(problem, method)).key
        return self._create(key, key.name)

    def _confirming(self, problem: Problem, first: Campaign) -> Campaign:
        """One of the ledger, else a new one, by another sum."""
        found = self._found_second(problem, first.key)
        if found:
            return found.campaign
        method, device = self._choice.second(problem, first.key), self._choice.devices(problem)[0]
        depth = self._choice.depth(problem, method)
        return self._create(*confirming_plan((), first, method.name, None, depth, device))

    def _create(self, key: PlanKey, name: str) -> Campaign:
        """Where another plan has the name, a number is added."""
        find_method(key.method, key.problem).require_kernel(self._choice.devices(key.problem)[0].kind)
        free, number, work = name, 1, plan_of(key).work.tolist()
        while True:
            try:
                return self._ledger.create_campaign(free, key, work)
            except CampaignMismatch:
                number += 1
                free = f"{name}-{number}"


def _require_agreement(problem: Problem, counted: Counted) -> None:
    """Raises CheckFailed when what is known of a count contradicts it."""
    known = agreement(problem, counted.count.published)
    if known.agrees is False:
        raise CheckFailed(
            f"{problem} = {counted.count.published:,} is wrong ({' '.join(known.words.split())}); find the "
            f"wrong result by `langford verify {counted.name} --sample 100%`"
        )


def _method_words(key: PlanKey) -> str:
    return f"{key.method} with seed {key.seed}" if key.seed else key.method


def _tasks_left(campaign: Campaign) -> int:
    return campaign.tasks - campaign.standing().tasks_done


def _row(entry: Entry, counted: Mapping[Shape, tuple[Counted, Counted | None]]) -> Row:
    problems = [problem for problem in entry.problems if not problem.obstruction]
    shapes = dict.fromkeys(representative(problem) for problem in problems)
    firsts = [counted[shape][0] for shape in shapes]
    seconds = [second for _, second in (counted[shape] for shape in shapes) if second is not None]
    counts = [counted[representative(problem)][0].count.arrangements for problem in problems]
    known = known_of(problems)
    if known is not None and known.arrangements != sum(counts):
        source, names = (
            known.source(known.arrangements, mirror_images=True),
            ", ".join(each.name for each in firsts),
        )
        raise CheckFailed(
            f"the counts for n = {entry.n} add up to {sum(counts):,}, not to the published {known.arrangements:,} "
            f"({source}): find the wrong result with `langford verify NAME --sample 100%` of {names}"
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
        any(all(each.unpromised for each in sums if each is not None) for sums in map(counted.__getitem__, shapes)),
    )
