"""What the votes on a task decide: plain rules, without a database.

Each value that a worker found is a vote for that value.  Votes are independent if neither host nor token is the
same: one machine has one vote, however often it starts, and so has one token, whatever hosts its bearer invents.
Results of imported files are no votes; one that disagrees calls for votes.  A value that the operator recomputed
decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from db.states import Doubt, VoterKind
from db.trust.draw import CONTESTED

MAX_VOTES = 5
"""Independent votes after which no more workers are asked: then the operator decides."""


def independent(host: str, token: str, other_host: str, other_token: str) -> bool:
    """Whether neither host nor token is the same; the token of a worker that opens the ledger itself is ""."""
    return host != other_host and (not token or token != other_token)


@dataclass(frozen=True)
class Vote:
    witness_id: int | None
    attempt_id: int  # its attempt; later attempts have larger ids
    value: str
    lot: float
    voter_id: int  # the voter that is responsible for it
    kind: VoterKind
    host: str
    token: str
    trusted: bool = True
    questioned: bool = False  # whether the operator put it in question

    @property
    def counts(self) -> bool:
        return self.trusted and not self.questioned

    def is_independent_of(self, other: Vote) -> bool:
        return independent(self.host, self.token, other.host, other.token)


@dataclass(frozen=True)
class Ruling:
    held: Vote
    confirmed_by: int | None  # an independent voter that confirms it; None: there is none
    lot: float  # lot of the accepted result from now on
    doubt: Doubt | None  # why the accepted result is in doubt; None: it is not
    # Voters of the accepted value, if it is confirmed: it counts in their favour
    valid: frozenset[int] = frozenset()
    # Voters that found another value than the decided one: they lose their trust
    refuted: frozenset[int] = frozenset()


def strength(votes: Sequence[Vote]) -> int:
    """The largest number of these votes that are pairwise independent.

    Hosts and tokens are the two sides of a bipartite graph, and votes its edges: this is the size of its maximum
    matching.
    """
    neighbours: dict[str, set[str]] = {}
    for vote in votes:
        neighbours.setdefault(vote.host, set()).add(vote.token or f"the ledger, from {vote.host}")
    partner: dict[str, str] = {}

    def finds_partner(host: str, tried: set[str]) -> bool:
        for token in neighbours[host] - tried:
            tried.add(token)
            if token not in partner or finds_partner(partner[token], tried):
                partner[token] = host
                return True
        return False

    return sum(finds_partner(host, set()) for host in neighbours)


def rule(votes: Sequence[Vote]) -> Ruling:
    """Let the votes on a task decide; ``votes``: the accepted result first."""
    accepted = votes[0]
    contested = accepted.lot == CONTESTED and not accepted.questioned
    counting = [vote for vote in votes if vote.counts]
    verdicts = [vote for vote in counting if vote.kind is VoterKind.OPERATOR]
    if verdicts:
        return _by_verdict(counting, max(verdicts, key=lambda vote: vote.attempt_id))
    if not counting:
        # The accepted result stays, and is evaluated again.
        questioned = contested or any(vote.questioned for vote in votes)
        return Ruling(accepted, None, accepted.lot, Doubt.QUESTION if questioned else None)
    said = _consistent(vote for vote in counting if vote.kind is VoterKind.WORKER)
    values = {vote.value for vote in counting}
    strengths = {value: strength(_for(said, value)) for value in values}
    best = max(values, key=strengths.__getitem__)
    if len(values) > 1:
        contested = True
        runner_up = max(strengths[value] for value in values if value != best)
        if strengths[best] <= max(1, runner_up):
            asked_enough = strength(said) >= MAX_VOTES
            return Ruling(accepted, None, accepted.lot, Doubt.TIE if asked_enough else Doubt.CONFLICT)
    supporters = _for(said, best)
    held = (supporters or _for(counting, best))[0]  # the accepted one where it supports this value
    pair = _independent_pair(supporters)
    if pair is not None:
        held = pair[0]
    return Ruling(
        held,
        None if pair is None else pair[1].voter_id,
        CONTESTED if contested else held.lot,
        Doubt.QUESTION if contested and pair is None else None,
        frozenset() if pair is None else frozenset(vote.voter_id for vote in supporters),
        _others(counting, best),
    )


def _by_verdict(counting: Sequence[Vote], verdict: Vote) -> Ruling:
    supporters = _for([vote for vote in counting if vote.kind is VoterKind.WORKER], verdict.value)
    held = supporters[0] if supporters else verdict
    return Ruling(
        held,
        verdict.voter_id,
        held.lot,
        None,
        frozenset(vote.voter_id for vote in supporters),
        _others(counting, verdict.value),
    )


def _consistent(votes: Iterable[Vote]) -> list[Vote]:
    several = list(votes)
    said: dict[tuple[str, str], set[str]] = {}
    for vote in several:
        said.setdefault((vote.host, vote.token), set()).add(vote.value)
    return [vote for vote in several if len(said[vote.host, vote.token]) == 1]


def _for(votes: Sequence[Vote], value: str) -> list[Vote]:
    return [vote for vote in votes if vote.value == value]


def _independent_pair(votes: Sequence[Vote]) -> tuple[Vote, Vote] | None:
    """The first vote is one of them if possible."""
    return next((pair for pair in combinations(votes, 2) if pair[0].is_independent_of(pair[1])), None)


def _others(counting: Sequence[Vote], value: str) -> frozenset[int]:
    """The voters of other values; earlier decisions of the operator are overruled without loss of trust."""
    return frozenset(
        vote.voter_id for vote in counting if vote.value != value and vote.kind is not VoterKind.OPERATOR
    )
