"""Ledgers and campaigns for Python programs, and for the commands.

:mod:`langford` imports this module when someone asks for its ``Ledger`` or ``Campaign``: ``import langford`` loads
no SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing import current_process
from os import PathLike, fspath

import db
from db.errors import Away, LedgerError
from db.identity import Identity
from db.states import require_new_name
from jobs.console import SILENT, Console
from jobs.pools.evaluation import InProcessPool
from jobs.pools.executor_pool import Executor, ExecutorPool, workers_of
from jobs.pools.pool import Pool
from jobs.pools.process_pool import WorkerPool
from jobs.reach.outbox import Outbox
from jobs.reach.patience import Calls
from jobs.run.limits import PATIENCE_SECONDS
from jobs.run.loop import Run, RunReport
from jobs.run.source import TaskSource
from langford.devices import CPU, BadDevice, Device
from langford.devices import devices as present
from langford.errors import BadInput, BadProblem
from langford.methods import ChosenPlan, Count, Plan, PlanKey, chosen_plan, plan_of
from langford.methods.speed import Speed, speed_here
from langford.problem import Problem, problem_of
from langford.words import several


class Campaign(db.Campaign):
    """A campaign of a ledger, which keeps every result: :meth:`Ledger.campaign` gives one.

    Besides what is here it has ``reader``, which tells its progress, results and history
    (:class:`db.campaign.reader.ReaderCampaign`), and ``operator``, which cancels, renames and deletes it
    (:class:`db.campaign.operator.OperatorCampaign`).
    """

    def __repr__(self) -> str:
        return f"<Campaign {self.name}, {several(self.tasks, 'task')}, in {self.database.where}>"

    def run(
        self,
        devices: str | Device | Sequence[str | Device] = CPU.kind,
        time_limit: float | None = None,
        console: Console = SILENT,
        *,
        identity: Identity | None = None,
        outbox: Outbox | None = None,
        pool_of: Callable[[PlanKey, Sequence[Device]], Pool] = WorkerPool,
        patience: float = PATIENCE_SECONDS,
        speed: Speed | None = None,
        executor: Executor | None = None,
    ) -> RunReport:
        """Compute what is left, here or by an executor.  It resumes after being killed at any point.

        Args:
            devices: "cpu" for all cores, "cuda" for every GPU, "cuda:1" for one of them; or a device a process.
            time_limit, console, pool_of, patience: see :class:`jobs.run.loop.Run`.
            identity: the worker in the ledger; None: a new one.
            outbox: where results wait while the ledger is away; None: in memory.
            speed: of the plan's work on one device; None: measured where it is needed.
            executor: evaluates the tasks instead, as many at a time as it has workers: one of
                ``concurrent.futures`` or of submitit, dask's ``client.get_executor()``, mpi4py's MPIPoolExecutor.
                Then ``devices`` is what each worker computes on.

        >>> import langford, tempfile
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> file = f"{tempfile.mkdtemp()}/l.db"
        >>> with langford.Ledger(file, create=True) as ledger, ThreadPoolExecutor(2) as executor:
        ...     campaign = ledger.campaign("skolem 9")
        ...     report = campaign.run(executor=executor)
        ...     campaign.count()
        <Count Skolem(2,9) = 1328>

        A process that may not start others, like one of ``multiprocessing.Pool`` or Celery, computes by itself, on
        the first device.

        Raises BadInput, MethodDoesNotApply, BadDevice, NoGpu, CampaignMismatch when this version splits the problem
        in another way, and what :class:`jobs.run.loop.Run` raises.
        """
        _require_seconds("time_limit", time_limit)
        _require_seconds("patience", patience)
        if executor is not None:
            if not isinstance(devices, str | Device):
                raise BadDevice("the workers of an executor compute on one kind of device: give one, like 'cpu'")
            here = [Device.parse(str(devices))] * workers_of(executor)
            pool_of = partial(ExecutorPool, executor)
        elif isinstance(devices, str | Device):
            here = present(str(devices))
        elif isinstance(devices, Iterable):
            here = [Device.parse(str(each)) for each in devices]
        else:
            here = []
        if not here:
            raise BadDevice(f"a run needs a device: give one, like 'cpu', not {devices!r:.60}")
        self.plan.method.require_kernel(here[0].kind)
        if pool_of is WorkerPool and current_process().daemon:
            console.say(
                "this process cannot start others (as in a multiprocessing.Pool): it computes alone, on one device"
            )
            pool_of, here = InProcessPool, here[:1]
        worker = identity or Identity.fresh(here)
        calls = Calls(console)
        source = TaskSource(calls.through(self.worker), worker, outbox, console)

        def probe(key: PlanKey) -> Speed | None:
            return speed_here(plan_of(key), here) if speed is None and executor is None else speed

        try:
            return Run(source, here, console, time_limit, pool_of, patience, probe=probe).run()
        finally:
            with suppress(LedgerError, Away):
                calls.through(self).refresh()  # it may have another name now, which messages about the run mention

    def count(self, unconfirmed: bool = False) -> Count:
        """The merged count of a complete campaign; raises as :meth:`db.campaign.reader.ReaderCampaign.merged`.

        Args:
            unconfirmed: merge although some of the promised share are not replicated.
        """
        return self.reader.merged(unconfirmed)


def _require_seconds(name: str, seconds: float | None) -> None:
    """Raises BadInput."""
    if seconds is not None and not (isinstance(seconds, int | float) and seconds >= 0):
        raise BadInput(f"{name} must be a number of seconds, 0 or more, not {seconds!r:.60}")


class Ledger(db.Ledger):
    """An open ledger: close it, or use it as a context manager.

    >>> import langford, tempfile
    >>> with langford.Ledger(f"{tempfile.mkdtemp()}/records.db", create=True) as ledger:
    ...     campaign = ledger.campaign(8, depth=4)
    ...     report = campaign.run()
    ...     campaign.count()
    <Count L(2,8) = 150>
    """

    def __init__(self, where: str | PathLike[str] = "langford.db", create: bool = False) -> None:
        """Open a ledger; raises NoLedger where there is none.

        Args:
            where: a file name or database URL.
            create: whether an empty or absent database becomes a new ledger.
        """
        super().__init__(fspath(where) if isinstance(where, PathLike) else where, create)

    def __repr__(self) -> str:
        return f"<Ledger {self.database.where}>"

    def named(self, name: str) -> Campaign:
        """The campaign of a name, which is not taken for the words of a problem; raises NoSuchCampaign.

        Args:
            name: of the campaign.
        """
        return Campaign(self.database, super().campaign(name).record)

    def campaign(
        self,
        problem: Problem | Plan | PlanKey | int | str,
        method: str | None = None,
        depth: int | None = None,
        seed: int | None = None,
        name: str | None = None,
        device: str = CPU.kind,
        task_seconds: float | None = None,
    ) -> Campaign:
        """The campaign of a problem, created unless the ledger has it; or the one of a name.

        Args:
            problem: a Problem, n for L(2, n), a plan or its key, words, or else the name of a campaign.
            method, depth, seed: what is not given is chosen (:func:`langford.methods.chosen_plan`).
            name: of the campaign; by default that of its plan, like "langford-12-polyphase-8".
            device: on which the method and the depth are the best.
            task_seconds: see :func:`langford.methods.chosen_plan`.

        Raises NoSuchCampaign, CampaignMismatch, BadName, and as :func:`langford.methods.chosen_plan`.
        """
        if isinstance(problem, str):
            words = problem
            try:
                problem = Problem.parse(words)
            except BadProblem:
                return self.named(words)
        if isinstance(problem, Plan | PlanKey):
            key = problem.key if isinstance(problem, Plan) else problem
        else:
            of = problem_of(problem)
            is_new = any(given is not None for given in (method, depth, seed, task_seconds, name))
            new = chosen_plan(of, Device.parse(device), method, depth, seed, task_seconds)
            begun = self.begun(new, name) if is_new else self.of_problem(of, new.device)
            if begun is not None:
                return begun
            key = new.key
        if name is not None and not self.has(name):
            require_new_name(name)
        created = self.create_campaign(name or key.name, key, plan_of(key).work.tolist())
        return Campaign(self.database, created.record)

    def of_problem(self, problem: Problem, device: Device | None = CPU) -> Campaign | None:
        """The campaign of a problem, whatever its name and its plan; None: there is none.

        Args:
            problem: what it counts.
            device: of several campaigns, the one that a count on this device resumes is taken (:meth:`begun`);
                None: none of them.

        Raises BadInput where that is none of several: one has to be named.
        """
        found = [campaign for campaign in self.campaigns() if campaign.problem == problem]
        if len(found) < 2:
            return found[0] if found else None
        begun = None if device is None else self.begun(chosen_plan(problem, device))
        if begun is None:
            names = ", ".join(campaign.name for campaign in found)
            raise BadInput(f"the ledger has {several(len(found), 'campaign')} of {problem}: {names}. Name one")
        return begun

    def begun(self, new: ChosenPlan, name: str | None = None) -> Campaign | None:
        """The campaign that is resumed instead of creating one by a chosen plan; None: there is none.

        It is at any depth where none was given; one of a name has any method and seed, unless these were given.

        Args:
            new: the plan.
            name: of the campaign; None: that of the plan.
        """
        any_method, any_seed = name is not None and not new.named, name is not None and not new.seeded
        return next(
            (
                campaign
                for campaign, key in ((campaign, campaign.key) for campaign in self.campaigns())
                if campaign.name == (name or key.name)
                and key.problem == new.problem
                and (any_method or key.method == new.method.name)
                and new.depth in (None, key.depth)
                and (any_seed or key.seed == new.seed)
            ),
            None,
        )

    def campaigns(self) -> Sequence[Campaign]:
        """All campaigns, oldest first."""
        return [Campaign(self.database, campaign.record) for campaign in super().campaigns()]
