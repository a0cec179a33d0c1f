"""The ``langford`` command: the table of its commands, and its exit codes."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from contextlib import suppress
from functools import cache
from io import TextIOWrapper

import click

from langford import __version__
from langford.cli.exit_codes import ExitCode, code_of_error, code_of_signal
from langford.cli.failures import cannot_print, code_of_failure, forget
from langford.cli.help_page import HelpPage
from langford.cli.lazy import LazyCommand, LazyGroup, OutputClosed
from langford.cli.output.display import READABLE, say
from langford.errors import LangfordError
from langford.machine import process
from langford.machine.process import COMPILING, compiling_words
from langford.own_packages import require_own_packages

SECTIONS = {
    "Count": {
        "counting:count": "Count the arrangements of a problem, exactly.",
        "counting:estimate": "Estimate a count by Knuth's random walks, with its standard error.",
    },
    "Campaigns": {
        "campaigns.run:run": "Create or resume a campaign and run it on this machine.",
        "campaigns.status:status": "Show progress, speed, end and workers of campaigns, and what needs attention.",
        "results.exchange:result": "Merge finished campaigns, or exported files, and print the count with its "
        "checks.",
        "results.verify:verify": "Recompute tasks of a campaign on this machine and compare.",
        "campaigns.tasks:tasks": "List a campaign's tasks with their results.",
        "campaigns.tasks:retry": "Return tasks that were set aside to the queue.",
        "results.confirm:confirm": "Count a campaign's problem again in another way, and compare the counts.",
        "campaigns.tasks:recheck": "Put results in question: other workers must evaluate them again before the "
        "merge.",
        "results.exchange:export": "Write a campaign's results, checksummed, to a file that another ledger can "
        "import.",
        "results.exchange:import_": "Import exported results into a ledger; repeating it changes nothing.",
        "results.query:query": "Query a ledger in SQL that only reads; as a table, CSV or JSON.",
        "results.report:report": "Write a report of a campaign as HTML: count, checks, times, figures and devices.",
        "results.report:cite": "Print a paragraph that cites a count, and a BibTeX entry for the program.",
        "campaigns.table:table": "Count a family up to n = N, as a table, CSV, JSON or b-file of the OEIS; each "
        "entry is a campaign.",
        "campaigns.marginals:marginals": "Count in how many arrangements a colour begins at each place.",
        "campaigns.lifecycle:cancel": "Stop a campaign: set all its unfinished tasks aside; its workers then end.",
        "campaigns.lifecycle:rename": "Give a campaign another name.",
        "campaigns.lifecycle:delete": "Delete a campaign from its ledger, and keep an export of its results.",
        "campaigns.lifecycle:ledger": "Work on a ledger as a whole.",
    },
    "Farm": {
        "farm.create:create": "Write a campaign with all its tasks into a ledger, for workers that start later.",
        "farm.create:token": "Print a new token for a campaign; the ledger keeps only its hash.",
        "farm.serve:serve": "Hand out the tasks of campaigns to workers anywhere, and take their results.",
        "farm.work:work": "Compute tasks of a campaign that others work on too.",
        "campaigns.tasks:release": "Return leased tasks to the queue; other workers get them at once.",
    },
    "Cluster": {
        "cluster.mpi:mpi": "Count on the ranks of an MPI program, started with mpirun or srun.",
        "cluster.slurm:slurm": "Run campaigns on a SLURM cluster.",
    },
    "Explore": {
        "explore.families:families": "List the words that name a problem.",
        "explore.arrangements:list_": "List explicit arrangements, mirror images once.",
        "explore.draw:draw": "Draw an arrangement as coloured cubes and arcs, or check one.",
        "explore.doctor:doctor": "Show what this machine has, test it, and list what to install.",
        "explore.tune:tune": "Count one problem with many settings, and compare their times.",
        "explore.irregular:irregular": "Analyse search trees, graphs and cycles; run Graph500.",
    },
}
"""The commands and their summaries, by the sections of the help; a command has the name of its function."""
COMMANDS = {
    place.partition(":")[2].rstrip("_"): LazyCommand(f"langford.cli.{place}", summary, section)
    for section, commands in SECTIONS.items()
    for place, summary in commands.items()
}


NAMED_ABOVE = {
    *("count", "estimate", "run", "status", "result", "verify", "table", "draw", "serve", "work", "irregular"),
}
"""The commands that the text of the help names; `slurm` has others too."""


click.Context.formatter_class = HelpPage


def _print_version(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from langford.provenance import kernel_hash

        print(f"langford {__version__}, kernels {kernel_hash()}")
        context.exit()


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    named_above=NAMED_ABOVE,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and the hash of the counting code, and exit.",
)
def cli() -> None:
    """Count Langford pairings and their relatives, exactly.

    \b
    langford count 16            count, at once on this machine
    langford estimate 31         estimate what is too large to count
    langford run 20              count so that an interruption costs nothing
    langford status              see progress and time left
    langford result NAME         get the count of a campaign, with its checks
    langford verify NAME         recompute a sample of a campaign, and compare
    langford table skolem 20     count a whole family
    langford draw 12             see an arrangement, or check one (--cubes)
    langford serve 28            share the work among machines; on each: langford work NAME.join
    langford slurm keep 28       count on a SLURM cluster

    `langford families` lists the words for problems, like near-skolem 12 missing 5; `langford COMMAND --help` has
    examples, and `langford irregular --help` is about search trees, graphs and cycles.
    """


def main() -> None:
    """Run the command; an error becomes one line on standard error and an exit code."""
    # The BLAS of numpy, which is not used here, would start a thread per core in every worker process.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A closed stream is None; what is printed to it is lost, as its owner wanted, and there is nothing to read.
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115 -- until the process ends
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=READABLE)
    process.claim()
    COMPILING.tell(_say_that_it_compiles)
    code = _code_of_command()
    try:
        sys.stdout.flush()
    except OSError as error:
        code = code if isinstance(error, BrokenPipeError) else cannot_print(error)
        forget(sys.stdout)
    try:
        sys.stderr.flush()
    except OSError:
        forget(sys.stderr)
    colorama = sys.modules.get("colorama.initialise")
    if colorama is not None:
        # Numba has loaded it, and it would reset the colours of a terminal that has none.
        atexit.unregister(colorama.reset_all)
    if process.still_computes():
        # A kernel hears no signal, and may need hours.
        os._exit(code)
    # What is alive now ends with the process: looking for cycles in it takes a quarter of a short command's time.
    gc.freeze()
    sys.exit(code)


def _code_of_command() -> int:
    """Returns the exit code, after a line on standard error if the command failed."""
    try:
        require_own_packages()
        ended = cli.main(standalone_mode=False)
        return ended if isinstance(ended, int) else ExitCode.DONE
    except click.exceptions.NoArgsIsHelpError as error:
        with suppress(OSError):
            error.show()
        return ExitCode.BAD_INPUT
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        advice = f" (see `{context.command_path} --help`)" if context is not None else ""
        say(f"langford: {' '.join(error.format_message().split())}{advice}")
        return ExitCode.BAD_INPUT
    except (click.Abort, KeyboardInterrupt) as error:
        if isinstance(error.__cause__, EOFError):
            # click takes it for the end of an answer, which it is at a question of click's own, without a cause.
            return _code_of_unforeseen(error.__cause__)
        say("langford: stopped by SIGINT")
        return code_of_signal(signal.SIGINT)
    except LangfordError as error:
        say(f"langford: {' '.join(str(error).splitlines())}")
        return code_of_error(error)
    except OutputClosed:
        forget(sys.stdout)
        return ExitCode.DONE
    except UnicodeEncodeError:
        wrong = next((argument for argument in sys.argv if not _is_text(argument)), None)
        if wrong is None:
            raise
        say(f"langford: {wrong} is not valid text here: use a UTF-8 locale, and write it in UTF-8")
        return ExitCode.BAD_INPUT
    except Exception as error:
        return _code_of_unforeseen(error)


def _code_of_unforeseen(error: Exception) -> int:
    """Report an error of the system or of this installation; any other is raised."""
    # Then click could not end the line that has ^C.
    is_stopped = isinstance(error, OSError) and isinstance(error.__context__, KeyboardInterrupt)
    code = code_of_signal(signal.SIGINT) if is_stopped else code_of_failure(error)
    if code is None:
        raise error
    return code


@cache
def _say_that_it_compiles(what: str | None) -> None:
    """Once for each: the first count takes longer than the next."""
    if what is not None:
        say(compiling_words(what))


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True
