"""What a report says about time: the numbers of the thesis, occupancy, throughput, task times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jobs.show.report.document import Block, Grid, Paragraph, Picture, Section
from jobs.show.report.gathering import Evidence
from jobs.show.report.origins import UNKNOWN
from langford.problem import Problem
from langford.words import duration, instant, number, rate, several, share

# The numbers of two campaigns in section 1.3.5 of Loiseau's thesis; a report shows its own next to them.
# Its times of L(2, 28) contradict each other: 131,072 tasks of 1,321 s are 173 million seconds, not 117 million; a
# report shows both as they are.
TITLE = "Julien Loiseau, doctoral thesis, Université de Reims Champagne-Ardenne, 2018, section 1.3.5"
ADDRESS = "https://www.theses.fr/2018REIMS006"
CAMPAIGNS: Mapping[str, Mapping[str, str]] = {
    Problem.langford(27).name: {
        "tasks": "32,768",
        "mean time of a task": "911 s",
        "its standard deviation": "20%",
        "effective time": "about 30 million s (345.4 d)",
        "elapsed time": "164,700 s (1.9 d)",
        "mean occupancy": "181.2 machines, 69.7% of the cluster",
        "lost attempts": "617 (1.9% of the tasks)",
        "mean time of one": "766 s",
        "time of all": "472,873 s (1.6% of the effective time)",
    },
    Problem.langford(28).name: {
        "tasks": "131,072",
        "mean time of a task": "1,321 s",
        "its standard deviation": "12%",
        "effective time": "about 117 million s (1,365 d)",
        "elapsed time": "23 d",
        "mean occupancy": "about 99 machines, 38% of the cluster",
    },
}
"""Rows of a report that the thesis has too, by name of the problem; a machine is a processor with a GPU."""
REMARKS = {
    Problem.langford(28).name: "Its mean time times its tasks is 173 million s, more than the effective time it"
    " gives; the thesis contains both.",
}


def sections(evidence: Evidence) -> Iterator[Section]:
    yield Section("In numbers", list(_numbers(evidence)))
    yield Section("When and how fast", list(_progress(evidence)))
    if "task-times" in evidence.figures:
        yield Section("Task times", list(_task_times(evidence)))


def _numbers(evidence: Evidence) -> Iterator[Block]:
    problem = evidence.history.key.problem
    yield Paragraph(
        "A device is one core or one GPU; it computes one task at a time. The effective time is the computing "
        "time of the accepted results. The mean occupancy, effective time divided by elapsed time, is the mean "
        f"number of devices that computed accepted results at once.{_of_timed(evidence)} The speed of computation "
        "is work per computing time, that of one device; the speed since the start is work per elapsed time, "
        "that of all devices. A lost attempt had started and ended without a result: it was preempted, died or "
        "failed."
    )
    rows = list(_rows(evidence))
    theirs = CAMPAIGNS.get(problem.name)
    if theirs is None:
        yield Grid("The campaign in numbers", ["", "this campaign"], rows, numbers=1)
        return
    beside = [[name, value, theirs.get(name, "")] for name, value in rows]
    yield Grid(
        "The campaign in numbers, compared with the thesis", ["", "this campaign", "thesis"], beside, numbers=2
    )
    yield Paragraph(
        f"The last column is what the thesis says of its count of {problem}, by Godfrey's method on the nodes of a "
        f"cluster, each a processor and a GPU. {REMARKS.get(problem.name, '')}".strip(),
        (TITLE, ADDRESS),
    )


def _rows(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Some of the names are those of the thesis too."""
    found = evidence.numbers
    times = found.times
    yield "tasks", f"{found.done:,} of {found.tasks:,}" if found.done < found.tasks else f"{found.tasks:,}"
    yield "mean time of a task", UNKNOWN if times is None else f"{number(times.mean)} s"
    yield "its standard deviation", UNKNOWN if times is None else share(times.deviation)
    if times is not None:
        extremes = " / ".join(f"{number(value)} s" for value in (times.least, times.most))
        yield "shortest / longest task", extremes
    yield "effective time", _seconds(found.effective)
    elapsed = found.elapsed
    yield "elapsed time", UNKNOWN if elapsed is None else _seconds(elapsed)
    yield "speed of computation", _rate(evidence.numbers.of_computation, evidence.unit)
    yield "speed since the start", _rate(evidence.numbers.since_the_start, evidence.unit)
    yield "mean occupancy", _occupancy(evidence)
    if found.aborted is None:
        yield "lost attempts", UNKNOWN
        return
    yield "lost attempts", f"{found.aborted:,} ({_per_task(found.aborted / found.tasks)})"
    if found.aborted:
        yield "mean time of one", duration(found.aborted_seconds / found.aborted)
        lost, effective = found.aborted_seconds, found.effective
        of_effective = f" ({share(lost / effective)} of the effective time)" if effective else ""
        yield "time of all", f"{duration(lost)}{of_effective}"
    if found.repeated:
        again = f"{several(found.repeated, 'result')}, {duration(found.repeated_seconds)}"
        yield "computed again, to confirm", again


def _per_task(attempts: float) -> str:
    """A share, as in the thesis, while it is one."""
    return f"{share(attempts)} of the tasks" if attempts <= 1 else f"{number(attempts)} per task"


def _of_timed(evidence: Evidence) -> str:
    """What elapsed time and occupancy are of, where that is not all of the campaign."""
    found = evidence.numbers
    if not found.timed or found.timed == found.done:
        return ""
    return f" Elapsed time and occupancy are those of the {found.timed:,} tasks whose times are known."


def _rate(speed: float | None, unit: str) -> str:
    return UNKNOWN if speed is None else rate(speed, unit)


def _seconds(seconds: float) -> str:
    return duration(seconds) if seconds < 100 else f"{number(round(seconds))} s ({duration(seconds)})"


def _occupancy(evidence: Evidence) -> str:
    found = evidence.numbers
    if found.occupancy is None:
        return UNKNOWN
    most = found.most_devices
    of_most = f" ({share(found.occupancy / most)} of at most {most:,})" if most else ""
    return f"{number(found.occupancy)} devices{of_most}"


def _progress(evidence: Evidence) -> Iterator[Block]:
    found, shown = evidence.numbers, evidence.figures
    if found.began is not None and found.ended is not None and found.elapsed and found.hourly:
        yield Paragraph(
            f"Computing began at {instant(found.began)}, and the last result so far arrived at "
            f"{instant(found.ended)} (UTC), {duration(found.elapsed)} later: {number(found.hourly)} tasks per hour."
        )
    if evidence.forecast:
        yield Paragraph(evidence.forecast)
    if "occupancy" in shown:
        most = found.most_devices
        yield Picture(
            "occupancy",
            f"Devices that computed, and workers with tasks, over time: at most {several(most, 'device')} "
            f"computed at once, {number(found.occupancy or 0.0)} on average. The lines are means over 1/240 "
            "of the time.",
        )
    if "throughput" in shown:
        yield Picture(
            "throughput",
            "Throughput: results that arrived in each interval, and the share of the work done by then.",
        )
    if not {"occupancy", "throughput"} & set(shown):
        yield Paragraph("No times are known, so no timeline and no throughput can be shown.")


def _task_times(evidence: Evidence) -> Iterator[Block]:
    times = evidence.numbers.times
    assert times is not None
    devices = len({origin.device for origin in evidence.origins})
    mixed = " Devices of different speeds computed them; see the table of devices." if devices > 1 else ""
    yield Picture(
        "task-times",
        f"Computing time of each task by its index, from {duration(times.least)} to {duration(times.most)}; the "
        f"mean is {duration(times.mean)}.{mixed}",
    )
