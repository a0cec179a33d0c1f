"""The ``langford`` command."""

from __future__ import annotations

import os
import sys

import click

from langford import __version__
from langford.cli import campaigns, counting, doctor, exchange, explicit, farm, ledgers, mpi, slurm, tune
from langford.errors import CheckFailed, Incomplete, LangfordError

EXIT_CODES: dict[type[LangfordError], int] = {CheckFailed: 4, Incomplete: 3}
BAD_INPUT = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Count Langford pairings and their relatives, exactly.

    \b
    langford count 16            the count, here and now
    langford run langford 20     the same as a campaign that survives interruption
    langford status              how far the campaigns of ./langford.db are
    """


for command in (
    counting.count,
    campaigns.run,
    campaigns.status,
    campaigns.result,
    campaigns.tasks,
    campaigns.verify,
    campaigns.retry,
    exchange.export,
    exchange.import_,
    explicit.list_,
    explicit.draw,
    counting.estimate,
    doctor.doctor,
    mpi.mpi,
    ledgers.ledger,
    farm.create,
    farm.token,
    farm.serve,
    farm.work,
    slurm.slurm,
    tune.tune,
):
    cli.add_command(command)


def main() -> None:
    """Entry point: every deliberate error is one line and an exit code."""
    # numpy's BLAS, which nothing here uses, would start a thread per core in every process of a pool.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        cli()
    except LangfordError as error:
        print(f"langford: {error}", file=sys.stderr)
        codes = [code for kind, code in EXIT_CODES.items() if isinstance(error, kind)]
        sys.exit(codes[0] if codes else BAD_INPUT)
    except BrokenPipeError:
        # The reader of our output (head, less) has seen enough.
        sys.stderr.close()
        sys.exit(0)
