"""``langford irregular``: trees, cycles and graphs, and what they say about our own searches."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from langford.cli.lazy import ListingGroup
from langford.cli.options.common import json_option, sample_seed_option
from langford.cli.options.groups import ProblemOptions, problem_options
from langford.cli.options.types import device
from langford.devices import CPU, Device


def one_device(text: str) -> str:
    """The kind of a device; of several GPUs this program sees only the one that is named."""
    chosen = Device.parse(device(text))
    if text != chosen.kind:
        seen = os.environ.get("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(chosen.index + 1)))).split(",")
        os.environ["CUDA_VISIBLE_DEVICES"] = (*seen, *[""] * chosen.index)[chosen.index]
    return chosen.kind


one_device_option = partial(
    click.option, "--device", type=one_device, default=CPU.kind, show_default=True, metavar="cpu|cuda|cuda:K"
)


@click.group(cls=ListingGroup)
def irregular() -> None:
    """Analyse search trees, graphs and cycles; run Graph500."""


@irregular.command(
    epilog="""\b
Examples:
  langford irregular tree 12
  langford irregular tree skolem 9 --depth 4 --json"""
)
@problem_options
@click.option("--depth", "-p", type=click.IntRange(min=1), help="Describe the levels down to this depth only.")
@one_device_option(help="A core, or GPU K, by default 0.")
@json_option
def tree(chosen: ProblemOptions, **asked: Any) -> None:
    """Measure the search tree of a problem exactly, by its states.

    For each depth: the tasks of a backtracking plan, the distinct states among them, the nodes below a task, and
    the error of the plan's estimate of these.  Then the spread of one walk of `langford estimate`.
    """
    _work().tree(chosen.problem(), **asked)


@irregular.command(
    epilog="""\b
Examples:
  langford irregular cycle edges.txt
  langford irregular cycle edges.txt --maximum --json
  zcat edges.gz | langford irregular cycle -
  grep '^a' graph.gr | cut -c 3- | langford irregular cycle -"""
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--maximum", is_flag=True, help="Find the largest mean instead of the least.")
@json_option
def cycle(**asked: Any) -> None:
    """Find the cycle with the least mean weight, or weight per time.

    Each line of FILE is an edge: source, target, weight and, for a ratio, its time; whole numbers, with spaces or
    commas between them.  What follows a # is a comment.  The answer is exact and proved.
    """
    _work().cycle(**asked)


@irregular.command(
    epilog="""\b
Examples:
  langford irregular bfs --scale 20
  mpirun -n 4 langford irregular bfs --scale 20 --roots 8 --mpi --json
  mpirun -n 2 langford irregular bfs --scale 27 --mpi --device cuda"""
)
@click.option("--scale", type=click.IntRange(0, 48), required=True, help="The graph has 2^SCALE vertices.")
@click.option(
    "--roots", type=click.IntRange(1, 1_000_000), default=64, show_default=True, help="Number of searches."
)
@sample_seed_option(type=click.IntRange(0, 2**63 - 1), default=1, show_default=True)
@click.option("--mpi", "with_mpi", is_flag=True, help="Partition the graph over the ranks of an MPI program.")
@one_device_option(
    help="A core, or GPU K, by default 0; with --mpi each rank takes a core, or a GPU of its host in turn.",
)
@json_option
@click.pass_context
def bfs(context: click.Context, /, **asked: Any) -> None:
    """Run the Graph500 benchmark: searches of a random graph, each checked."""
    context.exit(_work().bfs(**asked))


def _work() -> ModuleType:
    """The functions that do the work of the commands, which import SciPy; raises NotInstalled."""
    from langford.irregular.errors import require_scipy

    require_scipy()
    from langford.cli.explore import irregular_work

    return irregular_work
