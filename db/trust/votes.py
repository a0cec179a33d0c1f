"""What the votes on a task decide: plain rules, without a database.

Each value that a worker found is a vote for that value; whoever is the same (:mod:`db.work.identities`) has one
vote.  Results of imported files, and of workers whose token was revoked, are no votes; one that disagrees calls for
votes.  A value that the operator recomputed decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from db.states import Doubt, VoterKind

MAX_VOTES = 5
"""Voters after whom no more workers are asked: then the operator decides."""


@dataclass(frozen=True)
class Vote:
    witness_id: int | None
    attempt_id: int  # its attempt; later attempts have larger ids
    value: str
    voter_id: int  # the voter that is responsible for it
    kind: VoterKind
    who: str  # see db.work.identities.identity
    trusted: bool = True
    questioned: bool = False  # whether the operator put it in question

    @property
    def counts(self) -> bool:
        return self.trusted and not self.questioned


@dataclass(frozen=True)
class Ruling:
    held: Vote
    confirmed_by: int | None  # an independent voter that confirms it; None: there is none
    drawn: bool  # whether it must be confirmed
    doubt: Doubt | None  # why the accepted result is in doubt; None: it is not
    # Voters that found another value than the decided one: they lose their trust
    refuted: frozenset[int] = frozenset()


def rule(votes: Sequence[Vote], drawn: bool) -> Ruling:
    """Let the votes on a task decide.

    Args:
        votes: the accepted result first.
        drawn: whether it must be confirmed, even if nobody contradicts it.
    """
    accepted = votes[0]
    counting = [vote for vote in votes if vote.counts]
    values = dict.fromkeys(vote.value for vote in counting)
    if len(votes) == 1 and not accepted.trusted and not accepted.questioned:
        # Nobody contradicts it: it waits because of its voter, see db.trust.waiting.SUSPECT.
        return Ruling(accepted, None, drawn, None)
    drawn = drawn or len(values) > 1 or not accepted.trusted
    if not counting:
        # The accepted result stays, and is evaluated again.
        return Ruling(accepted, None, drawn, Doubt.QUESTION)
    verdicts = [vote for vote in counting if vote.kind is VoterKind.OPERATOR]
    said = _consistent(vote for vote in counting if vote.kind is VoterKind.WORKER)
    if verdicts:
        verdict = max(verdicts, key=lambda vote: vote.attempt_id)
        held = next((vote for vote in said if vote.value == verdict.value), verdict)
        return Ruling(held, verdict.voter_id, drawn, None, _others(counting, verdict.value))
    voters = {value: {vote.who for vote in said if vote.value == value} for value in values}
    first, *others = sorted(values, key=lambda value: -len(voters[value]))
    if others and len(voters[first]) <= max(1, len(voters[others[0]])):
        asked_enough = len({vote.who for vote in said}) >= MAX_VOTES
        return Ruling(accepted, None, drawn, Doubt.TIE if asked_enough else Doubt.CONFLICT)
    supporters = [vote for vote in said if vote.value == first]
    held = (supporters or [vote for vote in counting if vote.value == first])[0]  # the accepted one if it is one
    confirming = next((vote.voter_id for vote in supporters if vote.who != held.who), None)
    return Ruling(held, confirming, drawn, None, _others(counting, first))


def _consistent(votes: Iterable[Vote]) -> list[Vote]:
    """Without those of whom says two things: that is no vote."""
    several = list(votes)
    said: dict[str, set[str]] = {}
    for vote in several:
        said.setdefault(vote.who, set()).add(vote.value)
    return [vote for vote in several if len(said[vote.who]) == 1]


def _others(counting: Sequence[Vote], value: str) -> frozenset[int]:
    """The voters of other values; earlier decisions of the operator are overruled without loss of trust."""
    return frozenset(
        vote.voter_id for vote in counting if vote.value != value and vote.kind is not VoterKind.OPERATOR
    )
