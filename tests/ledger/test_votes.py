"""What votes decide, and what is drawn, without a database."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.files.promise import lot
from db.schema.models import fresh_secret
from db.states import Doubt, VoterKind
from db.trust.votes import MAX_VOTES, Ruling, Vote, rule
from db.work.identities import identity

WORKER, IMPORT, OPERATOR = VoterKind


def vote(number: int, value: str, who: str = "", kind: VoterKind = WORKER, **options: bool) -> Vote:
    """The vote of somebody else, unless it is said who."""
    return Vote(number or None, number, value, number, kind, who or f"token-{number}", **options)


def votes_of(said: str) -> list[Vote]:
    """From words like "x y:t -x ?y file:x": each a value, and after a colon the token of its voter.

    A distrusted voter's vote begins with "-", one in question with "?"; "file:" and "operator:" say its kind.
    """
    votes = []
    for number, word in enumerate(said.split()):
        options = {"trusted": not word.startswith("-"), "questioned": word.startswith("?")}
        first, _, second = word.lstrip("-?").partition(":")
        kind = {"file": IMPORT, "operator": OPERATOR}.get(first, WORKER)
        value, who = (first, second) if kind is WORKER else (second, "")
        votes.append(vote(number, value, who, kind, **options))
    return votes


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize(
    ("said", "held", "confirmed_by", "doubt", "refuted"),
    [
        # one alone is believed, but confirms nothing, however often
        ("x", 0, None, None, ""),
        ("x:t x:t", 0, None, None, ""),
        ("x x", 0, 1, None, ""),
        # one with invented workers does not outvote an honest one
        ("y x:t x:t x:t", 0, None, Doubt.CONFLICT, ""),
        ("x:t y x:t x:t y", 1, 4, None, "023"),
        # files, and workers whose token was revoked, are evidence
        ("file:x file:x file:x", 0, None, None, ""),
        ("y file:x file:x file:x", 0, None, Doubt.CONFLICT, ""),
        ("file:x y file:x y", 1, 3, None, "02"),
        ("file:x x", 1, None, None, ""),
        # a tie is the operator's
        ("x y x y", 0, None, Doubt.CONFLICT, ""),
        ("x y x y x y", 0, None, Doubt.TIE, ""),
        ("x x y y z", 0, None, Doubt.TIE, ""),
        ("x y z w v", 0, None, Doubt.TIE, ""),
        # five votes, but two voters, or two of workers: others are asked
        ("x:t x:t x:t y:u y:u", 0, None, Doubt.CONFLICT, ""),
        ("x y file:x file:y file:y", 0, None, Doubt.CONFLICT, ""),
        ("x x y z", 0, 1, None, "23"),
        ("x y x y x y operator:y", 1, 6, None, "024"),
        ("x y operator:y operator:x", 0, 3, None, "1"),  # the later one, without loss of trust
        ("file:x y z operator:y", 1, 3, None, "02"),
        ("file:x operator:x", 1, 1, None, ""),
        # who says two things says nothing
        ("x:t y:t", 0, None, Doubt.CONFLICT, ""),
        ("x:t y:t y", 0, None, Doubt.CONFLICT, ""),
        ("x:t y:t y y", 2, 3, None, "0"),
        # what does not count any more
        ("x -x", 0, None, None, ""),
        ("-x x", 1, None, None, ""),
        ("-x -x", 0, None, Doubt.QUESTION, ""),
        ("?x ?x", 0, None, Doubt.QUESTION, ""),
        ("?x ?x y", 2, None, None, ""),
        ("x -x -y", 0, None, None, ""),
    ],
)
def test_what_votes_decide(
    said: str, drawn: bool, held: int, confirmed_by: int | None, doubt: Doubt | None, refuted: str
) -> None:
    votes = votes_of(said)
    ruling = rule(votes, drawn)
    contested = len({each.value for each in votes if each.counts}) > 1
    must = drawn or contested or not votes[0].trusted  # which stays
    assert ruling == Ruling(votes[held], confirmed_by, must, doubt, frozenset(map(int, refuted)))


@pytest.mark.parametrize("drawn", [False, True])
def test_a_result_alone_waits_only_because_of_its_voter(drawn: bool) -> None:
    """To count the votes again changes nothing of a result whose voter was found wrong elsewhere."""
    [alone] = votes_of("-x")
    assert rule([alone], drawn) == Ruling(alone, None, drawn, None)
    [questioned] = votes_of("?x")
    assert rule([questioned], drawn) == Ruling(questioned, None, drawn, Doubt.QUESTION)


def test_five_are_asked_before_the_operator() -> None:
    halves = [vote(number, "xy"[number % 2]) for number in range(MAX_VOTES)]
    assert rule(halves[:-1], False).doubt is Doubt.CONFLICT
    assert rule([*halves[:-1], replace(halves[-1], value="z")], False).doubt is Doubt.TIE


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("h", "t"), ("other", "t"), True),  # a token has one vote, whatever hosts its bearer invents
        (("h", "t"), ("h", "u"), False),  # a host name that came with a token is a claim
        (("h", ""), ("h", "t"), False),
        (("h", ""), ("h", ""), True),
        (("h", ""), ("other", ""), False),
    ],
)
def test_who_is_the_same(one: tuple[str, str], other: tuple[str, str], same: bool) -> None:
    assert (identity(*one) == identity(*other)) is same


VOTES = st.lists(
    st.builds(vote, st.just(1), st.sampled_from("xyz"), st.sampled_from("abcdefg")), min_size=1, max_size=7
)


@given(VOTES, st.booleans())
def test_a_ruling_is_about_what_was_said(votes: list[Vote], drawn: bool) -> None:
    """The held vote agrees with its confirmation, by another; more say so than anything else; to rule again changes
    nothing.
    """
    numbered = [replace(each, attempt_id=k, voter_id=k, witness_id=k or None) for k, each in enumerate(votes)]
    ruling = rule(numbered, drawn)
    assert ruling.held in numbered
    assert drawn <= ruling.drawn
    if ruling.confirmed_by is not None:
        confirmer = numbered[ruling.confirmed_by]
        assert confirmer.value == ruling.held.value
        assert confirmer.who != ruling.held.who
    if ruling.doubt is None and len({each.value for each in numbered}) > 1:
        assert ruling.confirmed_by is not None
        assert {each.voter_id for each in numbered if each.value != ruling.held.value} == ruling.refuted
    held_first = sorted(numbered, key=lambda each: (each != ruling.held, each.attempt_id))
    assert rule(held_first, ruling.drawn).held == ruling.held


def test_the_draw() -> None:
    tasks = range(20_000)
    same = partial(lot, "the same lots whenever this test runs")
    for share in (0.02, 0.3):
        drawn = sum(same(task) < share for task in tasks) / len(tasks)
        assert drawn == pytest.approx(share, abs=5 * (share / len(tasks)) ** 0.5)
    one, other = partial(lot, fresh_secret()), partial(lot, fresh_secret())
    assert [one(k) for k in range(9)] == [one(k) for k in range(9)]
    assert [one(k) for k in range(9)] != [other(k) for k in range(9)]
    assert all(0 <= one(k) < 1 for k in tasks[:1000])


def test_anyone_can_draw_again() -> None:
    """Files with published secrets are read for ever: this is of `printf '%064d 7' 0 | sha256sum`."""
    digest = "bbe2c0cf29d1e35d9acbaa8aaf0fdc08f704eca587344147d22d2b3f2830ef25"
    assert lot("0" * 64, 7) == (int(digest, 16) >> (256 - 53)) / 2**53
