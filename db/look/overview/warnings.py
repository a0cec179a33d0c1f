"""How far results are checked by further results, and what the operator of a campaign should look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Integer, bindparam, select

from db.look import progress
from db.look.overview import room
from db.look.overview.facts import Facts
from db.look.overview.records import Checked, Parts, Warned, WarningKind, WorkerState, WorkerView
from db.schema.dialects import among
from db.schema.models import Token, Voter
from db.states import Ending
from db.store.database import Database
from db.store.transaction import CAMPAIGN, Transaction
from db.trust import complaints, holding, waiting
from db.work.identities import identity
from db.work.presence import Names
from langford.words import percent, several, some

SAMPLE = 200
"""Number of rechecks in the sample from which the number without a voter is estimated."""

NAMED = 8
"""Maximum number of workers or tasks that a warning names."""
SLOW = 0.6
"""Share of the median speed of its peers below which a device is reported."""


def checked(transaction: Transaction, facts: Facts) -> Checked:
    share = facts.campaign.recheck_share
    if not facts.standing.tasks_done:
        return Checked(share, 0, 0, 0, 0)
    promised = waiting.replication(transaction)
    confirmed = progress.confirmations(transaction)
    return Checked(share, promised.drawn, promised.replicated, confirmed, len(facts.conflicts))


_VOTERS = select(Voter.host, Voter.token).where(among(Voter.id, "voters"))


def _without_voter(transaction: Transaction, facts: Facts) -> int:
    """Number of rechecks that none of the present voters may do, estimated from a sample if there are many."""
    again = facts.again
    rechecks = [task for task in facts.rechecks if task not in again]
    if not rechecks:
        return 0
    voters = {row.voter_id for row in facts.present if row.voter_id is not None}
    sample = rechecks[:: -(-len(rechecks) // SAMPLE)]
    voted = waiting.voted(transaction, sample)
    rows = transaction.connection.execute(_VOTERS, {"voters": sorted(voters)})
    here = {identity(row.host, row.token) for row in rows}
    alone = sum(here <= earlier for earlier in voted.values())
    return round(alone * len(rechecks) / len(sample))


_FRUITLESS = (
    select(Token.id)
    .where(Token.campaign_id == CAMPAIGN, Token.fruitless >= bindparam("many", type_=Integer))
    .order_by(Token.id)
)


def _fruitless(transaction: Transaction, name: str) -> list[str]:
    """Warnings about tokens whose many last leases brought nothing; a role that only reads may not know them."""
    many = transaction.scalars(_FRUITLESS, many=holding.MAX_FRUITLESS).all()
    digests = {number: digest for digest, number in Names(transaction).numbers.items()} if many else {}
    return [
        f"token {number} gets no more tasks, since its last {several(holding.MAX_FRUITLESS, 'lease')} brought no "
        f"result: `langford token {name} --list` shows what its workers did, and `langford token {name} --revoke "
        f"{number}` ends their leases"
        for number in many
        if number in digests and holding.is_fruitless(transaction, digests[number])
    ]


def warnings_of(
    transaction: Transaction,
    facts: Facts,
    tasks: Parts[int],
    workers: Sequence[WorkerView],
    database: Database,
) -> tuple[Warned, ...]:
    name = facts.campaign.name
    complained = complaints.in_words(transaction) if tasks.set_aside else ""
    fruitless = _fruitless(transaction, name) if facts.finished is None else []
    return (
        *_about_results(name, tasks, facts.conflicts, complained),
        *_about_workers(name, tasks, workers, _without_voter(transaction, facts)),
        *(Warned(WarningKind.TOKEN, text) for text in fruitless),
        *room.lacking(database, tasks.total - tasks.done),
    )


def _about_results(name: str, tasks: Parts[int], conflicts: Sequence[int], complained: str) -> Iterator[Warned]:
    if conflicts:
        yield Warned(
            WarningKind.CONFLICT,
            f"{several(len(conflicts), 'task has', 'tasks have')} results that disagree "
            f"({some(conflicts, NAMED)}): workers with other tokens vote on them, or "
            f"`langford verify {name} --waiting` decides",
        )
    if tasks.set_aside:
        yield Warned(
            WarningKind.SET_ASIDE,
            f"{several(tasks.set_aside, 'task is', 'tasks are')} set aside{complained}: "
            f"`langford tasks {name} --state set-aside` shows them, `langford retry {name}` tries again",
        )


def _about_workers(
    name: str, tasks: Parts[int], workers: Sequence[WorkerView], without_voter: int
) -> Iterator[Warned]:
    by_state = {state: [worker for worker in workers if worker.state is state] for state in WorkerState}
    present = [worker for worker in workers if worker.state.is_present]
    left = tasks.ready + tasks.leased + tasks.recheck
    if distrusted := by_state[WorkerState.DISTRUSTED]:
        yield Warned(
            WarningKind.DISTRUSTED,
            f"results of {_named(distrusted)} were wrong: no more tasks go there, and all results from there are "
            "evaluated again; check that machine's memory, GPU and version of langford",
        )
    if silent := by_state[WorkerState.SILENT]:
        held = sum(worker.leased for worker in silent)
        tasks_held = f", with {several(held, 'task', 'tasks')}" if held else ""
        yield Warned(
            WarningKind.SILENT_WORKER,
            f"{_named(silent)} {'is' if len(silent) == 1 else 'are'} silent{tasks_held}: tasks of a silent "
            f"worker go to others when their leases expire, or at once after `langford release {name} --worker "
            f"{silent[0].worker_id}`",
        )
    for worker in present:
        if worker.against_peers is not None and worker.against_peers < SLOW:
            yield Warned(
                WarningKind.SLOW_DEVICE,
                f"{_named([worker])} computes at {percent(worker.against_peers, 0)} of the speed of other workers "
                f"with {worker.device_model or worker.device_kind}: check its clock speed, its temperature and "
                "what else runs there",
            )
    if without_voter:
        yield Warned(
            WarningKind.RECHECK_WITHOUT_SECOND_WORKER,
            f"{several(without_voter, 'result waits', 'results wait')} to be evaluated again, and no active worker "
            f"may do it: start one with another token (`langford token {name}`), or without a token on another "
            f"machine, or decide here: `langford verify {name} --waiting`",
        )
    # A campaign that waits for its first worker, or whose workers ended normally, needs no warning.
    gone = max(by_state[WorkerState.ENDED], key=lambda worker: worker.last_seen, default=None)
    is_lost = gone is not None and gone.ending in (None, Ending.LOST)
    if left and not present and (silent or distrusted or is_lost):
        yield Warned(
            WarningKind.NO_WORKERS,
            f"no worker is active, and {several(left, 'task is', 'tasks are')} left: start workers, with `langford "
            "run` on this ledger or `langford work` with a server",
        )


def _named(workers: Sequence[WorkerView]) -> str:
    """Their ids, hosts and SLURM jobs."""
    jobs = (f" (SLURM {worker.slurm})" if worker.slurm else "" for worker in workers)
    return some([f"{each.worker_id} on {each.host}{job}" for each, job in zip(workers, jobs, strict=True)], NAMED)
