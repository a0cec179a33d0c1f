"""The numbers that a task server gives to Prometheus: of its campaigns, their workers, and its own requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from db.look.overview.records import NOTHING_LOST, Overview
from db.states import LOST
from jobs.farm.api.clients import Traffic
from jobs.farm.api.overviews import Overviews
from langford.provenance import kernel_hash
from langford.version import __version__

CONTENT_TYPE = CONTENT_TYPE_LATEST
STATES = "done", "leased", "ready", "set_aside", "recheck"
RUNNING = "running"


class Metrics:
    """The numbers of a server; those of a campaign are some seconds old (:mod:`db.look.overview.shared`)."""

    def __init__(self, overviews: Overviews, traffic: Traffic) -> None:
        self._overviews, self._traffic = overviews, traffic

    def text(self, names: Sequence[str]) -> bytes:
        """In the text format of Prometheus."""
        registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=registry)
        overviews = [self._overviews.of(name).newest() for name in names]
        registry.register(_Families([*_of_campaigns(overviews), *self._of_the_server()]))
        return generate_latest(registry)

    def _of_the_server(self) -> Iterator[Metric]:
        answered = CounterMetricFamily(
            "langford_server_requests",
            "Requests that this server has answered, for all its campaigns.",
            labels=["method", "path", "status"],
        )
        for (method, path, status), number in sorted(self._traffic.answered.items()):
            answered.add_metric([method, path, str(status)], number)
        yield answered
        program = GaugeMetricFamily(
            "langford_build_info", "The program that answers.", labels=["version", "kernels"]
        )
        program.add_metric([__version__, kernel_hash()], 1)
        yield program


class _Families(Collector):
    """Numbers that have been gathered already."""

    def __init__(self, families: Sequence[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _of_campaigns(overviews: Sequence[Overview]) -> Iterator[Metric]:
    def family(name: str, words: str, *labels: str, counted: bool = False) -> Any:
        kind = CounterMetricFamily if counted else GaugeMetricFamily
        return kind(f"langford_{name}", words, labels=["campaign", *labels])

    tasks = family("tasks", "Tasks by state; recheck: those of done that are evaluated again.", "state")
    work = family("work_ratio", "Share of the work by state.", "state")
    total = family("tasks_in_total", "Tasks of the campaign.")
    speed = family("work_per_second", "Work per second, by the recent results of all workers.", "unit")
    average = family("work_per_second_average", "Work per second since the start, to the last result.", "unit")
    results = family("results_per_minute", "Results that arrive in a minute, now.")
    left = family("remaining_seconds", "Time until the campaign is done, at the present speed.")
    workers = family("workers", "Workers by state and kind of device.", "state", "device")
    attempts = family("attempts", "Attempts that have ended, by outcome.", "outcome", counted=True)
    lost = family(
        "lost_attempts", "Attempts that began and brought no result, by outcome.", "outcome", counted=True
    )
    lost_seconds = family("lost_seconds", "Seconds of the lost attempts, by outcome.", "outcome", counted=True)
    confirmed = family("confirmations", "Further results that agree with the accepted ones.", counted=True)
    conflicts = family("conflicts", "Tasks whose results disagree, not settled yet.")
    warnings = family("warnings", "Warnings that `langford status` shows, by kind.", "kind")
    finished = family("finished", "1 when the campaign is done, else 0.")
    for overview in overviews:
        name = overview.campaign
        for state in STATES:
            tasks.add_metric([name, state], getattr(overview.tasks, state))
            work.add_metric([name, state], getattr(overview.work, state))
        total.add_metric([name], overview.tasks.total)
        now = overview.speed
        for numbers, value in ((speed, now.now), (average, now.average)):
            if value is not None:
                numbers.add_metric([name, now.unit], value)
        if now.tasks_per_minute_now is not None:
            results.add_metric([name], now.tasks_per_minute_now)
        if overview.eta is not None:
            left.add_metric([name], overview.eta.seconds)
        for state, devices in sorted(overview.workers_by_state.items()):
            for device, number in sorted(devices.items()):
                workers.add_metric([name, state, device], number)
        for outcome, number in overview.attempts.items():
            if outcome != RUNNING:
                attempts.add_metric([name, outcome], number)
        for outcome in LOST:
            loss = overview.lost.get(outcome, NOTHING_LOST)
            lost.add_metric([name, outcome], loss.attempts)
            lost_seconds.add_metric([name, outcome], loss.seconds)
        confirmed.add_metric([name], overview.checked.confirmed)
        conflicts.add_metric([name], overview.checked.conflicts)
        for kind, number in sorted(Counter(warned.kind.value for warned in overview.warnings).items()):
            warnings.add_metric([name, kind], number)
        finished.add_metric([name], float(overview.finished is not None))
    yield from (tasks, work, total, speed, average, results, left, workers, attempts, lost, lost_seconds)
    yield from (confirmed, conflicts, warnings, finished)
