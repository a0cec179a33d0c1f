"""Searches over blocks on GPUs: ranks as threads on the host shim, and programs of mpirun on real GPUs."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.mpi.graph500 import graph500_on_ranks
from jobs.mpi.ranks import has_nccl
from langford.errors import BadInput, CheckFailed
from langford.irregular import Graph, bfs, check_bfs, graph500, kronecker
from langford.irregular.cuda.gpu import Gpu, gpu_by_number
from langford.irregular.errors import TooLarge
from langford.irregular.graphs import gpu_blocks as blocks
from langford.irregular.graphs.gpu_partition import PartitionedOnGpu
from langford.irregular.levels import Direction
from langford.kernels.gpu.host import HostProgram
from langford.kernels.gpu.runtime import NoGpu, device_count
from tests.irregular.ranks import ThreadRanks, on_threads
from tests.library.programs import needs
from tests.support.cases import exhaustive
from tests.support.command_line import Mpirun

INT, LONG = np.int32, np.int64
SEARCH = ("irregular", "bfs", "--mpi", "--device", "cuda")
TURN = threading.Lock()
EXCHANGES = Path(__file__).with_name("exchanges.py")


class OneAtATime(HostProgram):
    """A program of the host shim, whose threads and shared memory exist once, for several ranks."""

    def launch(self, name: str, *arguments: Any) -> None:
        with TURN:
            super().launch(name, *arguments)


def host_gpu() -> Gpu:
    """The host shim, for one rank."""
    needs("g++")
    return Gpu(np, OneAtATime)


@pytest.fixture(params=[*exhaustive(["host"]), pytest.param("gpu", marks=pytest.mark.gpu)])
def make_gpu(request: pytest.FixtureRequest) -> Callable[[], Gpu]:
    """What makes the device of a rank: the host shim, or GPU 0, which all ranks share."""
    if request.param == "gpu":
        try:
            gpu_by_number(0)
        except NoGpu as error:
            pytest.skip(f"needs a GPU: {error}")
        return lambda: gpu_by_number(0)
    return host_gpu


@pytest.fixture
def few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank sends, and sorts, no more edges at a time than a test has many times over."""
    monkeypatch.setattr(blocks, "SENT", 1000)
    monkeypatch.setattr(blocks, "SORTED", 700)


def require_same(
    make_gpu: Callable[[], Gpu],
    n: int,
    sources: Any,
    targets: Any,
    roots: list[int],
    size: int,
    most_rows: int,
    direction: Direction = "auto",
) -> None:
    """Fails unless ranks find the depths and frontiers that one core finds, in a tree without a fault."""
    graph = Graph.from_edges(n, sources, targets, symmetric=True).simple()
    known = [bfs(graph, root, direction) for root in roots]

    def search(world: ThreadRanks) -> list[Any]:
        mine = slice(len(sources) * world.rank // size, len(sources) * (world.rank + 1) // size)
        gpu = make_gpu()
        columns = [gpu.put(column[mine], column.dtype).copy() for column in (sources, targets)]
        shared = PartitionedOnGpu(gpu, world, n, *columns, most_rows)
        outcomes = []
        for root in roots:
            own, levels = shared.search(root, direction)
            outcomes.append((gpu.on_host(shared.gather(own)), levels))
        return [shared.connected.tolist(), outcomes]

    different = sources != targets
    joined = np.union1d(sources[different], targets[different]).tolist()
    for connected, outcomes in on_threads(size, search):
        assert connected == joined
        for root, expected, (parent, levels) in zip(roots, known, outcomes, strict=True):
            check_bfs(sources, targets, root, parent, expected.depth)
            assert [level.frontier for level in levels] == [level.frontier for level in expected.levels]
            if direction == "down":
                assert levels == expected.levels
            assert {level.direction for level in levels} <= ({"down", "up"} if direction == "auto" else {direction})


@pytest.mark.parametrize(
    ("size", "most_rows", "direction"),
    [(1, 8, "auto"), (4, 8, "auto"), (4, 8, "down"), (6, 2, "auto"), (6, 2, "up")],
)
def test_ranks_find_what_one_core_finds(
    make_gpu: Callable[[], Gpu], few_at_a_time: None, size: int, most_rows: int, direction: Direction
) -> None:
    sources, targets = kronecker(9, 8)
    roots = np.unique(sources)[:300:100].tolist()
    require_same(make_gpu, 512, sources, targets, roots, size, most_rows, direction)


@pytest.mark.exhaustive
@given(
    st.integers(1, 40).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60),
            st.integers(0, n - 1),
        )
    ),
    st.integers(1, 6), st.integers(1, 6), st.sampled_from(["auto", "down", "up"]),
)  # fmt: skip
@settings(max_examples=10)
def test_small_graphs_on_any_grid(graph: Any, size: int, most_rows: int, direction: Direction) -> None:
    n, edges, root = graph
    sources, targets = np.array(edges, INT).reshape(-1, 2).T.copy()
    require_same(host_gpu, n, sources, targets, [root], size, most_rows, direction)


def test_vertices_of_many_edges_and_long_paths(make_gpu: Callable[[], Gpu]) -> None:
    hubs, n = 2, 3000
    sources, targets = np.repeat(np.arange(hubs), n), np.tile(np.arange(n), hubs)
    require_same(make_gpu, n + 1, sources, targets, [0, n - 1], 3, 8, "down")
    # The second search has more levels than the first, and more than are looked at together.
    path = np.arange(69, dtype=LONG)
    require_same(make_gpu, 70, path, path + 1, [40, 0, 69], 2, 8)


def test_graphs_that_need_64_bits(monkeypatch: pytest.MonkeyPatch, make_gpu: Callable[[], Gpu]) -> None:
    monkeypatch.setattr(blocks, "offset_type", lambda edges: np.int64)
    sources, targets = kronecker(8, 8)
    require_same(make_gpu, 256, sources, targets, np.unique(sources)[:100:50].tolist(), 3, 1)


def test_roots_are_vertices() -> None:
    def search(world: ThreadRanks) -> None:
        graph = PartitionedOnGpu(host_gpu(), world, 3, np.array([0]), np.array([1]))
        for root in (-1, 3):
            with pytest.raises(BadInput, match="is not a vertex"):
                graph.search(root)

    on_threads(2, search)


class SmallGpu(Gpu):
    """The host shim as a GPU of some memory."""

    def __init__(self, memory: int) -> None:
        super().__init__(np, OneAtATime)
        self._memory = memory

    def free_bytes(self) -> int:
        return self._memory


def test_the_protocol_is_the_same_on_gpus() -> None:
    alone = graph500(8, roots=3)
    for outcome in on_threads(3, lambda world: graph500_on_ranks(world, 8, roots=3, gpu=SmallGpu(2**30))):
        for search, known in zip(outcome.searches, alone.searches, strict=True):
            assert (search.root, search.edges, search.frontiers) == (known.root, known.edges, known.frontiers)


def test_ranks_that_share_a_gpu_share_its_memory() -> None:
    def program(world: ThreadRanks) -> int:
        gpu = SmallGpu(400_000)
        assert len(graph500_on_ranks(world, 8, roots=1, gpu=gpu).searches) == 1
        with pytest.raises(TooLarge, match="2 ranks needs"):
            graph500_on_ranks(world, 8, roots=1, gpu=gpu, ranks_here=2)
        return 1

    assert on_threads(2, program) == [1, 1]


@pytest.mark.exhaustive
def test_what_ranks_exchange(python_on_ranks: Mpirun) -> None:
    require_exchanges(python_on_ranks, 3, "host", "place")


def require_exchanges(python_on_ranks: Mpirun, ranks: int, *kinds: str) -> None:
    """Fails unless the exchanges of these kinds bring what was sent."""
    out, errors = (process := python_on_ranks(ranks, str(EXCHANGES), *kinds)).communicate(timeout=100)
    assert process.returncode == 0, errors
    assert sorted(out.split()) == sorted(ranks * kinds)


# -- GPUs -------------------------------------------------------------------------------------


@pytest.fixture
def gpus() -> int:
    try:
        return device_count()
    except NoGpu as error:
        pytest.skip(f"needs a GPU: {error}")


@pytest.mark.gpu
def test_what_ranks_with_gpus_exchange(gpus: int, python_on_ranks: Mpirun) -> None:
    require_exchanges(python_on_ranks, gpus + 1, "device")
    if has_nccl():
        require_exchanges(python_on_ranks, gpus, "nccl")


@pytest.mark.gpu
def test_a_killed_rank_ends_the_others_on_gpus(gpus: int, mpirun: Mpirun) -> None:
    process = mpirun(gpus, *SEARCH, "--scale", "16", "--roots", "100000")
    launcher, ranks = psutil.Process(process.pid), []
    deadline = time.monotonic() + 60
    while len(ranks) < gpus and time.monotonic() < deadline:
        time.sleep(0.2)
        ranks = [child for child in launcher.children(recursive=True) if child.name().startswith("python")]
    time.sleep(8)  # they search
    assert process.poll() is None
    ranks[-1].send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode != 0
    _, alive = psutil.wait_procs(ranks, timeout=20)
    assert not alive


@pytest.mark.gpu
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_mpirun_on_gpus(gpus: int, mpirun: Mpirun, ranks: int) -> None:
    arguments = ["--scale", "14", "--roots", "8", "--json"]
    out, errors = (process := mpirun(ranks, *SEARCH, *arguments)).communicate(timeout=200)
    assert process.returncode == 0, errors
    told, known = json.loads(out), graph500(14, roots=8)
    assert told["ranks"] == ranks
    for search, same in zip(told["searches"], known.searches, strict=True):
        assert (search["root"], search["edges"], search["frontiers"]) == (same.root, same.edges, same.frontiers)
    if ranks <= gpus and has_nccl():
        assert told["exchange"] == "NCCL"
        assert "NCCL" not in errors
    else:
        assert told["exchange"] in ("host memory", "the CUDA-aware MPI")
        assert ranks <= gpus or f"{ranks} ranks share {gpus} GPU" in errors


@pytest.mark.gpu
def test_a_fault_is_found_on_the_gpu(gpus: int) -> None:
    sources, targets = kronecker(12, device="cuda")
    xp = gpu_by_number(0).xp
    graph = Graph.from_edges(4096, sources, targets, symmetric=True).simple()
    root = int(sources[0])
    parent = bfs(graph, root).parent
    assert check_bfs(sources, targets, root, parent) == int((parent[sources] >= 0).sum())
    lost = parent.copy()
    leaf = int(xp.flatnonzero((parent >= 0) & (xp.bincount(xp.maximum(parent, 0), minlength=4096) == 0))[0])
    lost[leaf] = -1
    with pytest.raises(CheckFailed, match="rule 4"):
        check_bfs(sources, targets, root, lost)
