"""Clients, alone or with a server, as one transition system (Barnat, Bauch, Brim, Češka, section 4).

A state of the system is a state of every client; in each transition one client moves.  With a server, only one
client at a time may be in a state in which it holds the server.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import prod
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langford.errors import BadInput
from langford.irregular.arrays import offset_type
from langford.irregular.graphs.bfs import bfs
from langford.irregular.graphs.graph import Graph
from langford.irregular.memory import present_bytes, require_memory
from langford.irregular.policies import BITS


@dataclass(frozen=True)
class Transition:
    """A move of one client.

    Attributes:
        source, target: states of the client.
        weight: its consumption, a whole number of up to 62 bits.
        time: its duration, a whole number of up to 62 bits.
    """

    source: int
    target: int
    weight: int
    time: int = 1


@dataclass(frozen=True)
class Scenario:
    """How a client behaves; it starts in state 0.

    Attributes:
        states: how many it has.
        transitions: its moves.
        holding: the states in which it holds the server.
    """

    states: int
    transitions: Sequence[Transition]
    holding: Collection[int] = field(default=frozenset())


@dataclass(frozen=True)
class TransitionSystem:
    """The states of all clients together.

    Attributes:
        graph: the transitions; vertex 0 is the start.
        weights, times: of the transitions in the order of ``graph.indices``, int64[m].
        client_states: the state of each client in each vertex, int16[n, clients], or int32 for clients of more than
            2¹⁵ states.
    """

    graph: Graph
    weights: NDArray[np.int64]
    times: NDArray[np.int64]
    client_states: NDArray[np.signedinteger[Any]]


def client_server(scenarios: Sequence[Scenario], server: bool) -> TransitionSystem:
    """The transition system of clients, one for each scenario, from their common start.

    Args:
        scenarios: of each client.
        server: whether only one client at a time holds the server.

    Raises BadInput; TooLarge before anything is built.
    """
    for number, scenario in enumerate(scenarios):
        _require_scenario(number, scenario)
    sizes = [scenario.states for scenario in scenarios]
    total = prod(sizes)
    edges = sum(len(scenario.transitions) * total // scenario.states for scenario in scenarios)
    # Each transition twice in four columns, and its place; of each state those of the clients, and its numbers.
    require_memory(f"a system of {total:,} states", 72 * edges + total * (4 * len(sizes) + 40), present_bytes())
    # The last client is the lowest digit of a state's number.
    client_states = np.zeros((total, len(sizes)), np.int16 if max(sizes, default=0) <= 2**15 else np.int32)
    below = total
    for client, size in enumerate(sizes):
        below //= size
        client_states[:, client] = np.arange(total) // below % size
    allowed = np.ones(total, bool)
    if server:
        holders = np.zeros(total, np.int16)
        for client, scenario in enumerate(scenarios):
            holders += np.isin(client_states[:, client], list(scenario.holding))
        allowed = holders <= 1
    if not allowed[0]:
        raise BadInput("two clients hold the server at the start: let at most one hold it in its state 0")
    columns = _edges(scenarios, sizes, allowed)
    places = np.cumsum(allowed) - 1
    kind = offset_type(total)
    graph = Graph.from_edges(int(allowed.sum()), places[columns[0]].astype(kind), places[columns[1]].astype(kind))
    system = TransitionSystem(graph, columns[2][graph.order], columns[3][graph.order], client_states[allowed])
    return _reachable(system)


def _require_scenario(number: int, scenario: Scenario) -> None:
    """Raises BadInput."""
    states = range(scenario.states)
    if not states:
        raise BadInput(f"client {number} has no state: give it at least one")
    for move in scenario.transitions:
        if move.source not in states or move.target not in states:
            raise BadInput(
                f"client {number} moves from state {move.source} to {move.target}, but has {scenario.states} "
                "states, numbered from 0"
            )
        if not all(isinstance(value, Integral) and abs(value) < 2**BITS for value in (move.weight, move.time)):
            raise BadInput(
                f"client {number} moves from state {move.source} to {move.target} with weight {move.weight} and "
                f"time {move.time}: give whole numbers of up to {BITS} bits"
            )
    if any(state not in states for state in scenario.holding):
        raise BadInput(f"client {number} holds the server in a state that it does not have: correct `holding`")


def _edges(
    scenarios: Sequence[Scenario], sizes: list[int], allowed: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], ...]:
    """Source, target, weight and time of all transitions between allowed states, int64[·] each."""
    numbers = np.arange(len(allowed)).reshape(sizes)
    parts: list[tuple[NDArray[np.int64], ...]] = []
    for client, scenario in enumerate(scenarios):
        for move in scenario.transitions:
            sources = np.take(numbers, move.source, axis=client).ravel()
            targets = np.take(numbers, move.target, axis=client).ravel()
            both = allowed[sources] & allowed[targets]
            sources, targets = sources[both], targets[both]
            parts.append((sources, targets, np.full_like(sources, move.weight), np.full_like(sources, move.time)))
    if not parts:
        return tuple(np.empty(0, np.int64) for _ in range(4))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _reachable(system: TransitionSystem) -> TransitionSystem:
    """The part of the system that can be reached from the start."""
    graph = system.graph
    reached = bfs(graph, 0, "down").parent >= 0
    if reached.all():
        return system
    sources = graph.sources
    kept = reached[sources]
    number = (np.cumsum(reached) - 1).astype(graph.indices.dtype)
    smaller = Graph.from_edges(int(reached.sum()), number[sources[kept]], number[graph.indices[kept]])
    order = smaller.order
    return TransitionSystem(
        smaller, system.weights[kept][order], system.times[kept][order], system.client_states[reached]
    )
