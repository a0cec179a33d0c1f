"""The views of a ledger, each column with its meaning: names instead of numbers, times in ISO 8601 (UTC).

On a ledger with 1,000,000 tasks each takes less than a second; the view of the tasks if it is read in parts
(``benchmarks/large_ledger.py views``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Float, Select, String, case, cast, func, select

from db.schema import measures
from db.schema.declaring import aliased
from db.schema.dialects import Iso, WholeMinutes
from db.schema.models import Attempt, Campaign, Result, Task, Voter, Witness, Worker, same_task
from db.states import Outcome, VoterKind


@dataclass(frozen=True)
class View:
    name: str
    summary: str
    selected: Mapping[str, tuple[Any, str]]  # by the names of its columns: what they are, and what they mean
    rows: Select[*tuple[Any, ...]]  # without columns

    @property
    def columns(self) -> dict[str, str]:
        """The meanings, by name, in the order of the columns."""
        return {name: meaning for name, (_, meaning) in self.selected.items()}

    @property
    def query(self) -> Select[*tuple[Any, ...]]:
        named = (each if each.key == name else each.label(name) for name, (each, _) in self.selected.items())
        return self.rows.with_only_columns(*named)


CAMPAIGN = "Name of the campaign."
SLURM = 'SLURM job as in the name of its log, "1234", or "1234_7" for index 7 of an array; null outside of SLURM.'
TIMES = "ISO 8601, UTC."
SAID = "As far as the worker said."


def _slurm(worker: Any) -> ColumnElement[str]:
    """The SLURM job as in the name of its log."""
    index: ColumnElement[str] = cast(worker.slurm_index, String)
    return case((worker.slurm_index.is_(None), worker.slurm_job), else_=worker.slurm_job + "_" + index)


def tasks() -> View:
    any_attempt = aliased(Attempt)
    of_task = same_task(any_attempt, Task)
    last = select(func.max(any_attempt.id)).where(*of_task).correlate(Task).scalar_subquery()
    number = select(func.count()).select_from(any_attempt).where(*of_task).correlate(Task).scalar_subquery()
    # All are joined by keys, so that a query pays only for the columns that it reads.
    return View(
        "task_overview",
        "A row for each task: its state, and the attempt that delivered its result, or else its last attempt.",
        {
            "campaign": (Campaign.name, CAMPAIGN),
            "task": (Task.task_index, "Index of the task."),
            "state": (Task.state, "ready, leased, done or set-aside."),
            "seconds": (Result.seconds, "Computing time of the result."),
            "worker": (Attempt.worker_id, "The worker of the attempt."),
            "host": (Worker.host, "Name of its machine."),
            "ended": (Iso(Attempt.ended), f"When it ended. {TIMES}"),
            "outcome": (
                Attempt.outcome,
                "How that attempt ended; null while it runs. An expired one may have delivered a result.",
            ),
            "doubt": (Result.doubt, "Why the result is in doubt: conflict, tie or question; null when it is not."),
            "work": (Task.work, "Estimated work, in the method's unit."),
            "failures": (Task.failures, "How often the task itself failed."),
            "deaths": (Task.deaths, "How often the process that evaluated it died."),
            "attempts": (number, "Number of attempts."),
            "granted": (Iso(Attempt.granted), f"When its lease began. {TIMES}"),
            "began": (
                Iso(Attempt.began),
                f"When its computing began, by the worker's clock; null: unknown. {TIMES}",
            ),
            "value": (Result.value, "The partial result as decimal text: it exceeds 64 bits; never sum it in SQL."),
            "confirmed": (
                case((Result.confirmed_by.is_not(None), 1), (Result.attempt_id.is_not(None), 0)),
                "1 when an independent voter found the same value, else 0; null without a result.",
            ),
            "device_kind": (Worker.device_kind, "cpu or cuda."),
            "device_model": (Worker.device_model, "Model of its device, by its manufacturer."),
            "slurm": (_slurm(Worker), SLURM),
        },
        select()
        .select_from(Task)
        .join(Campaign, Campaign.id == Task.campaign_id)
        .outerjoin(Result, same_task(Result, Task))
        .outerjoin(Attempt, Attempt.id == func.coalesce(Result.attempt_id, last))
        .outerjoin(Worker, Worker.id == Attempt.worker_id),
    )


def workers() -> View:
    some_attempt = aliased(Attempt)
    campaign = (
        select(Campaign.name)
        .join(some_attempt, some_attempt.campaign_id == Campaign.id)
        .where(some_attempt.worker_id == Worker.id)
        .limit(1)
        .correlate(Worker)
        .scalar_subquery()
    )
    # The index of attempts by worker contains all that is needed of them.
    in_time = Attempt.outcome.in_(measures.DELIVERED)
    length = func.coalesce(Attempt.computed, 0.0)
    numbers = (
        select(
            Attempt.worker_id,
            _number(Attempt.ended.is_(None)).label("leased"),
            *(_number(Attempt.outcome == outcome).label(outcome.value) for outcome in Outcome),
            _number(in_time).label("in_time"),
            func.sum(case((in_time, length), else_=0.0)).label("seconds"),
        )
        .group_by(Attempt.worker_id)
        .subquery("numbers")
    )
    cut = measures.cut_short()
    lost, late = measures.lost(cut), cut.c.late == 1
    others = (
        select(
            cut.c.worker_id,
            _number(lost).label("lost"),
            func.sum(case((lost, measures.seconds(cut)), else_=0.0)).label("lost_seconds"),
            _number(late).label("late"),
            func.sum(case((late, measures.seconds(cut)), else_=0.0)).label("late_seconds"),
        )
        .group_by(cut.c.worker_id)
        .subquery("others")
    )
    number = {column.key: func.coalesce(column, 0) for column in (*numbers.c, *others.c)}
    return View(
        "worker_overview",
        "A row for each worker: its machine, when it was seen, how it ended, and its attempts by outcome.",
        {
            "worker": (Worker.id, "Its UUID."),
            "host": (Worker.host, "Name of its machine."),
            "campaign": (campaign, "Name of a campaign that it works for; null before its first lease."),
            "done": (number["done"], "Attempts that delivered the first result of their task."),
            "leased": (number["leased"], "Running attempts."),
            "last_seen": (Iso(Worker.last_seen), f"When it made its last request, to about five seconds. {TIMES}"),
            "ending": (Worker.ending, "How: finished, preempted, stopped, replaced or lost."),
            "process": (Worker.process, "Its process on that machine: number@start@boot."),
            "device_kind": (Worker.device_kind, "cpu or cuda."),
            "device_model": (Worker.device_model, "Model of its device, by its manufacturer."),
            "cores": (Worker.cores, "Number of processor cores that it may use."),
            "processes": (Worker.processes, "Number of its processes that compute."),
            "kernels": (Worker.kernels, "Hash of the code that computes there."),
            "slurm": (_slurm(Worker), SLURM),
            "started": (Iso(Worker.started), f"When it enrolled. {TIMES}"),
            "ended": (
                Iso(Worker.ended),
                f"When its work ended; null while it works, or if that is unknown. {TIMES}",
            ),
            "distrusted": (
                Iso(Voter.distrusted),
                f"When one of its results was found wrong; null while it is trusted. {TIMES}",
            ),
            "released": (number["released"], "Attempts whose task was returned."),
            "preempted": (number["preempted"], "Attempts that were ended by a signal."),
            "expired": (number["expired"], "Attempts whose lease expired."),
            "failed": (number["failed"], "Attempts that raised an error."),
            "died": (number["died"], "Attempts whose process died."),
            "superseded": (number["superseded"], "Attempts that delivered a further result of their task."),
            "busy_seconds": (
                number["seconds"] + number["late_seconds"],
                f"Seconds for which the attempts that brought a result were computed. {SAID}",
            ),
            "lost_seconds": (number["lost_seconds"], f"Seconds for which the lost ones were computed. {SAID}"),
            "results": (
                number["in_time"] + number["late"],
                "Results that it delivered: done, superseded, and late ones of attempts that had ended.",
            ),
            "lost": (number["lost"], "Attempts that began, and ended without bringing a result, not even late."),
        },
        select()
        .select_from(Worker)
        .outerjoin(Voter, Voter.id == Worker.voter_id)
        .outerjoin(numbers, numbers.c.worker_id == Worker.id)
        .outerjoin(others, others.c.worker_id == Worker.id),
    )


def _number(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))


def throughput() -> View:
    minute = WholeMinutes(Result.accepted).label("minute")
    others = select(Voter.id).where(Voter.kind != VoterKind.WORKER)
    minutes = (
        select(
            Result.campaign_id,
            minute,
            func.count().label("tasks"),
            func.sum(Task.work).label("work"),
            func.sum(Result.seconds).label("seconds"),
        )
        .join(Task, same_task(Task, Result))
        .where(Result.voter_id.not_in(others))
        .group_by(minute, Result.campaign_id)  # in this order SQLite reads the results as they arrived
        .subquery("minutes")
    )
    return View(
        "throughput",
        "A row for each minute in which results of workers were accepted, without imported results.",
        {
            "campaign": (Campaign.name, CAMPAIGN),
            "minute": (Iso(cast(minutes.c.minute * 60, Float(53))), f"Its start. {TIMES}"),
            "tasks": (minutes.c.tasks, "Number of accepted results."),
            "work": (minutes.c.work, "Estimated work of their tasks, in the method's unit."),
            "seconds": (minutes.c.seconds, "Computing time of these results."),
        },
        select().select_from(Campaign).join(minutes, minutes.c.campaign_id == Campaign.id),
    )


def lost_time() -> View:
    cut = measures.cut_short()
    lost = measures.lost(cut)
    length = case((lost, measures.seconds(cut)))
    numbers = (
        select(
            cut.c.campaign_id,
            cut.c.outcome,
            _number(lost).label("attempts"),
            func.coalesce(func.sum(length), 0.0).label("seconds"),
            func.max(length).label("longest"),
            func.min(cut.c.ended).label("first"),
            func.max(cut.c.ended).label("last"),
            _number(measures.unbegun(cut)).label("unbegun"),
            _number(measures.unknown(cut)).label("unknown"),
        )
        .where(cut.c.late == 0)
        .group_by(cut.c.campaign_id, cut.c.outcome)
        .subquery("numbers")
    )
    return View(
        "lost_time",
        "A row for each way in which attempts ended without a result, and what it cost.",
        {
            "campaign": (Campaign.name, CAMPAIGN),
            "outcome": (numbers.c.outcome, "preempted, expired, released, failed or died."),
            "attempts": (
                numbers.c.attempts,
                "Number of lost attempts: they began, and ended in this way without a result, not even a late one.",
            ),
            "seconds": (numbers.c.seconds, f"For how many seconds they were computed. {SAID}"),
            "longest": (numbers.c.longest, "Seconds of the longest; null: none was lost."),
            "first": (Iso(numbers.c.first), f"When the first attempt ended so. {TIMES}"),
            "last": (Iso(numbers.c.last), f"When the last one ended so. {TIMES}"),
            "unbegun": (
                numbers.c.unbegun,
                "How many more ended in this way before computing began: they cost nothing.",
            ),
            "unknown": (
                numbers.c.unknown,
                "How many more ended in this way before their workers said anything of them.",
            ),
        },
        select().select_from(Campaign).join(numbers, numbers.c.campaign_id == Campaign.id),
    )


def disagreements() -> View:
    """Each result that is not the accepted one of its task, with the accepted one."""
    accepted, other = (aliased(Attempt, name=f"{which}_attempt") for which in ("accepted", "other"))
    accepted_worker, other_worker = (aliased(Worker, name=f"{which}_worker") for which in ("accepted", "other"))
    return View(
        "disagreements",
        "A row for each result that differs from the accepted one of its task, with both values and workers.",
        {
            "campaign": (Campaign.name, CAMPAIGN),
            "task": (Result.task_index, "Index of the task."),
            "doubt": (Result.doubt, "conflict, tie or question while it is open; null when it is settled."),
            "accepted_host": (accepted_worker.host, "Name of the machine of that worker."),
            "other_host": (other_worker.host, "Name of the machine of that worker."),
            "accepted_value": (Result.value, "The accepted partial result, as decimal text."),
            "accepted_at": (Iso(Result.accepted), f"When it arrived. {TIMES}"),
            "accepted_worker": (accepted.worker_id, "The worker that found it."),
            "accepted_device": (accepted_worker.device_model, "Model of its device, by its manufacturer."),
            "accepted_kernels": (accepted_worker.kernels, "Hash of the code that computed there."),
            "other_value": (Witness.value, "The other partial result, as decimal text."),
            "other_at": (Iso(Witness.accepted), f"When it arrived. {TIMES}"),
            "other_worker": (other.worker_id, "The worker that found it."),
            "other_device": (other_worker.device_model, "Model of its device, by its manufacturer."),
            "other_kernels": (other_worker.kernels, "Hash of the code that computed there."),
            "other_distrusted": (
                Iso(Voter.distrusted),
                f"When that worker lost its trust; null while it is trusted. {TIMES}",
            ),
        },
        select()
        .select_from(Witness)
        .join(Result, same_task(Result, Witness))
        .join(Campaign, Campaign.id == Witness.campaign_id)
        .join(accepted, accepted.id == Result.attempt_id)
        .join(accepted_worker, accepted_worker.id == accepted.worker_id)
        .join(other, other.id == Witness.attempt_id)
        .join(other_worker, other_worker.id == other.worker_id)
        .outerjoin(Voter, Voter.id == other_worker.voter_id)
        .where(Witness.value != Result.value),
    )
