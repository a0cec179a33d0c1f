"""What votes decide, without a database."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.schema.models import fresh_secret
from db.states import Doubt, VoterKind
from db.trust.draw import CONTESTED, DRAWN, MIN_VALID, lot
from db.trust.votes import MAX_VOTES, Vote, rule, strength


def vote(number: int, value: str, host: str = "", token: str = "", kind: VoterKind = VoterKind.WORKER) -> Vote:
    """The vote of a voter of its own, unless it shares host or token."""
    witness = number or None
    return Vote(witness, number, value, 0.5, number, kind, host or f"host-{number}", token or f"token-{number}")


VOTES = st.lists(
    st.builds(vote, st.just(1), st.sampled_from("xyz"), st.sampled_from("abcd"), st.sampled_from("stuv")),
    max_size=7,
)


def independent_by_trying(votes: list[Vote]) -> int:
    """The size of the largest set of votes that share neither host nor token."""
    if not votes:
        return 0
    first, *rest = votes
    return max(
        independent_by_trying(rest),
        1 + independent_by_trying([other for other in rest if first.is_independent_of(other)]),
    )


@given(VOTES)
def test_strength_is_the_number_of_independent_votes(votes: list[Vote]) -> None:
    assert strength(votes) == independent_by_trying(votes)


def test_who_opens_the_ledger_itself_shows_no_token() -> None:
    local = [replace(vote(number, "x"), token="") for number in range(3)]
    assert strength(local) == 3
    assert strength([replace(each, host="same") for each in local]) == 1
    assert local[0].is_independent_of(vote(7, "x"))
    assert vote(7, "x").is_independent_of(local[0])


def test_one_voter_alone_is_believed_but_confirms_nothing() -> None:
    for votes in (
        [vote(0, "x")],
        [vote(0, "x", "h"), vote(1, "x", "h")],  # the same machine after a restart
        [vote(0, "x", token="t"), vote(1, "x", token="t")],  # one token with two invented hosts
    ):
        ruling = rule(votes)
        assert (ruling.held, ruling.confirmed_by, ruling.doubt, ruling.valid) == (votes[0], None, None, frozenset())


def test_two_independent_voters_confirm() -> None:
    ruling = rule([vote(0, "x"), vote(1, "x")])
    assert (ruling.confirmed_by, ruling.valid, ruling.lot) == (1, {0, 1}, 0.5)


def test_one_token_with_two_invented_workers_does_not_outvote_an_honest_one() -> None:
    liars = [vote(number, "lie", token="t") for number in (1, 2, 3)]
    assert rule([vote(0, "truth"), *liars]).doubt is Doubt.CONFLICT
    ruling = rule([liars[0], vote(4, "truth"), *liars[1:], vote(5, "truth")])
    assert (ruling.held.value, ruling.refuted, ruling.lot) == ("truth", {1, 2, 3}, CONTESTED)
    same_machine = [vote(number, "lie", host="h") for number in (1, 2, 3)]
    assert rule([vote(0, "truth"), *same_machine]).doubt is Doubt.CONFLICT


def test_imports_are_evidence() -> None:
    files = [vote(number, "lie", kind=VoterKind.IMPORT) for number in (1, 2, 3)]
    assert rule(files).held == files[0]
    assert rule(files).confirmed_by is None
    assert rule([vote(0, "truth"), *files]).doubt is Doubt.CONFLICT  # more votes are asked for
    ruling = rule([files[0], vote(4, "truth"), *files[1:], vote(5, "truth")])
    assert (ruling.held.value, ruling.confirmed_by is None, ruling.refuted) == ("truth", False, {1, 2, 3})
    assert rule([files[0], vote(4, "lie")]).held.voter_id == 4  # a vote is better than evidence


def test_a_confirmation_is_taken_back_with_the_trust() -> None:
    confirmed = [vote(0, "x"), vote(1, "x")]
    assert rule([confirmed[0], replace(confirmed[1], trusted=False)]).confirmed_by is None
    assert rule([replace(confirmed[0], trusted=False), confirmed[1]]).held == confirmed[1]


def test_a_tie_goes_to_the_operator() -> None:
    halves = [vote(number, "xy"[number % 2]) for number in range(MAX_VOTES + 1)]
    assert rule(halves[: MAX_VOTES - 1]).doubt is Doubt.CONFLICT
    assert rule(halves).doubt is Doubt.TIE
    verdict = vote(99, "y", kind=VoterKind.OPERATOR)
    ruling = rule([*halves, verdict])
    assert (ruling.held.value, ruling.confirmed_by, ruling.doubt) == ("y", 99, None)
    assert ruling.refuted == {each.voter_id for each in halves if each.value == "x"}
    later = rule([*halves, verdict, vote(100, "x", kind=VoterKind.OPERATOR)])
    assert (later.held.value, later.refuted & {99, 100}) == ("x", set())


def test_a_verdict_speaks_for_workers_alone() -> None:
    file, verdict = vote(0, "x", kind=VoterKind.IMPORT), vote(9, "x", kind=VoterKind.OPERATOR)
    ruling = rule([file, vote(1, "x"), vote(2, "y"), verdict])
    assert (ruling.held.voter_id, ruling.valid, ruling.refuted) == (1, {1}, {2})
    unsupported = rule([file, verdict])
    assert (unsupported.held, unsupported.valid, unsupported.lot) == (verdict, frozenset(), 0.5)


def test_a_third_value_breaks_no_tie() -> None:
    assert rule([vote(number, value) for number, value in enumerate("xxyyz")]).doubt is Doubt.TIE
    assert rule([vote(number, value) for number, value in enumerate("xxyz")]).refuted == {2, 3}


def test_what_was_contested_must_stay_confirmed() -> None:
    held = replace(vote(0, "x"), lot=CONTESTED)
    lost = rule([held, replace(vote(1, "x"), trusted=False), replace(vote(2, "y"), trusted=False)])
    assert lost.doubt is Doubt.QUESTION
    assert rule([held, vote(1, "x")]).doubt is None
    nobody_left = [replace(held, trusted=False), replace(vote(1, "x"), trusted=False)]
    assert rule(nobody_left).doubt is Doubt.QUESTION
    assert rule([replace(nobody_left[0], lot=0.5), nobody_left[1]]).doubt is None  # it waits for its voter's sake


def test_who_says_two_things_says_nothing() -> None:
    twice = [vote(0, "x", "h", "t"), vote(1, "y", "h", "t")]
    assert rule(twice).doubt is Doubt.CONFLICT
    assert rule([*twice, vote(2, "y")]).doubt is Doubt.CONFLICT  # one vote decides nothing
    ruling = rule([*twice, vote(2, "y"), vote(3, "y")])
    assert (ruling.held.value, ruling.refuted) == ("y", {0})


def test_questioned_results_are_no_votes() -> None:
    old = [replace(vote(number, "x"), questioned=True) for number in range(3)]
    assert rule(old).doubt is Doubt.QUESTION
    fresh = rule([*old, vote(3, "y")])
    assert (fresh.held.value, fresh.doubt, fresh.refuted) == ("y", None, frozenset())
    contested = rule([replace(old[0], lot=CONTESTED), vote(3, "x")])  # what was said before counts no more
    assert (contested.held.voter_id, contested.doubt, contested.lot) == (3, None, 0.5)


@pytest.mark.exhaustive
@given(votes=VOTES.filter(bool), later=st.integers(0, 6))
def test_a_ruling_is_about_what_was_said(votes: list[Vote], later: int) -> None:
    """The held vote agrees with its confirmation and is independent of it; no valid voter is refuted."""
    numbered = [replace(each, attempt_id=k, voter_id=k, witness_id=k or None) for k, each in enumerate(votes)]
    ruling = rule(numbered)
    assert ruling.held in numbered
    assert not ruling.valid & ruling.refuted
    if ruling.confirmed_by is not None:
        confirmer = numbered[ruling.confirmed_by]
        assert confirmer.value == ruling.held.value
        assert confirmer.is_independent_of(ruling.held)
    if ruling.doubt is None and len({each.value for each in numbered}) > 1:
        assert ruling.confirmed_by is not None


def test_the_draw() -> None:
    attempts = range(20_000)
    same = partial(lot, "the same lots whenever this test runs")
    assert all(same(attempt, MIN_VALID - 1) == DRAWN for attempt in attempts[:100])
    for share in (0.02, 0.3):
        drawn = sum(same(attempt, 10**9) < share for attempt in attempts) / len(attempts)
        assert drawn == pytest.approx(share, abs=5 * (share / len(attempts)) ** 0.5)
        some = sum(same(attempt, 20) < share for attempt in attempts) / len(attempts)
        assert some == pytest.approx(max(share, 1 / 20), abs=0.01)
    one, other = partial(lot, fresh_secret()), partial(lot, fresh_secret())
    assert [one(k, 99) for k in range(9)] == [one(k, 99) for k in range(9)]
    assert [one(k, 99) for k in range(9)] != [other(k, 99) for k in range(9)]
    assert all(0 <= one(k, 10**9) < 1 for k in attempts[:1000])
