"""Simple proofs that a problem has no arrangement.

- A difference does not fit into the row.
- Parity: the two cubes of a colour, at x and x + d, fill places that sum to 2x + d, so the places' sum minus Σ d is
  even.
- Classes: let q > 1 be a power of a prime p that divides s.  A colour whose difference is a multiple of q fills s
  places that are equal modulo q.  Any other colour fills as many of one class modulo q as of another that is equal
  modulo q/p; if its difference is no multiple of p, that is s/q of every class.  In a set of p classes that are
  equal modulo q/p, the numbers of filled places therefore differ by multiples of s, and each s more is one multiple
  of q.  The remaining multiples of q fill the p classes of a set alike: p of them fill s places of each, besides
  those of the differences without the factor p.  In a full row with the differences 1 … n, where p^e is the largest
  power that divides s, that is n ≡ 0 … p − 1 mod p^(e+1).  (Sums of places or squares add nothing.)
- Room: the last cubes of all colours are (s−1)·Σ d after the first ones, which cannot be more than the last n
  filled places are after the first n.  For Langford's row of defect d that is n ≥ 2d − 1, and for the hooked one
  n(n − 2d + 1) + 2 ≥ 0, as in the literature.

On a circle with an even number of places, the proof by classes holds as on a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import sub
from typing import Protocol

from langford.problem.bounds import LISTED
from langford.words import several, some


class ProblemRows(Protocol):
    """The rows of a problem, see :class:`langford.problem.Problem`."""

    @property
    def n(self) -> int: ...
    @property
    def copies(self) -> int: ...
    @property
    def circle(self) -> bool: ...
    @property
    def loose(self) -> int: ...
    @property
    def differences(self) -> Sequence[int]: ...
    @property
    def places(self) -> int: ...
    @property
    def filled(self) -> Sequence[int]: ...
    @property
    def empty(self) -> Sequence[int]: ...
    def placements(self, difference: int) -> Sequence[int]: ...


def obstruction(problem: ProblemRows) -> str | None:
    """Why there can be no arrangement, or None when none of the proofs applies.

    The reason begins with its kind and a colon: by parity, by divisibility or for lack of space.
    """
    for difference in problem.differences if problem.circle else problem.differences[-1:]:
        if not problem.placements(difference):
            holes = f" with places {some(problem.empty, LISTED)} empty" if problem.circle else ""
            return f"for lack of space: difference {difference} does not fit into {problem.places} places{holes}"
    if problem.circle:
        return _classes(problem) if problem.places % 2 == 0 else None
    return _parity(problem) or _classes(problem) or _room(problem)


def _parity(problem: ProblemRows) -> str | None:
    places, differences = sum(problem.filled), sum(problem.differences)
    rest = places - differences
    if problem.copies > 2 or problem.loose or rest % 2 == 0:
        return None
    return (
        f"by parity: the filled places add up to {places} and the differences to {differences}; the places of a "
        f"colour, x and x + d, add up to d plus an even number, but {places} − {differences} = {rest} is odd"
    )


def _classes(problem: ProblemRows) -> str | None:
    for p, q in _prime_powers(problem.copies):
        filled = [0] * q
        for place in problem.filled:
            filled[place % q] += 1
        multiples = sum(difference % q == 0 for difference in problem.differences)
        prime = sum(d % p != 0 for d in problem.differences)
        if not any(
            _can_fill([*map(sub, filled, holes)], multiples, prime, problem.copies, p)
            for holes in _parts(problem.loose, q)
        ):
            return _in_words(problem, filled, multiples, p)
    return None


def _can_fill(filled: list[int], multiples: int, prime: int, s: int, p: int) -> bool:
    """The proof by classes.

    Args:
        filled: the number of filled places of each class modulo q.
        multiples: the number of differences that are multiples of q.
        prime: the number of those that are no multiples of p.
        s: cubes of a colour.
        p: the prime of which q is a power.
    """
    q = len(filled)
    taken = s // q * prime
    spare, room = multiples, 0
    for first in range(q // p):
        together = filled[first :: q // p]
        least = min(together)
        if least < taken or any((number - least) % s for number in together):
            return False
        spare -= sum(number - least for number in together) // s
        room += (least - taken) // s
    return spare % p == 0 and 0 <= spare <= p * room


def _parts(number: int, classes: int) -> Iterator[tuple[int, ...]]:
    """All ways in which holes can be in classes of places.

    >>> list(_parts(1, 3))
    [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    """
    if classes == 1:
        yield (number,)
        return
    for first in range(number + 1):
        yield from ((first, *others) for others in _parts(number - first, classes - 1))


def _prime_powers(number: int) -> Iterator[tuple[int, int]]:
    """(p, q) for all powers q > 1 of primes p that divide a number.

    >>> list(_prime_powers(12))
    [(2, 2), (2, 4), (3, 3)]
    """
    for p in range(2, number + 1):
        q = p
        while number % p == 0:
            yield p, q
            number //= p
            q *= p


def _in_words(problem: ProblemRows, filled: list[int], multiples: int, p: int) -> str:
    s, q = problem.copies, len(filled)
    if s == 2:
        even, odd = filled
        where = f"on a circle with an even number of places, {problem.places}, " if problem.circle else ""
        return (
            f"by parity: {where}a pair with an odd difference takes an odd and an even place, and every other pair "
            f"takes two of one kind; so with {several(problem.n - multiples, 'odd difference')}, {odd} odd and "
            f"{even} even places cannot be filled"
        )
    numbers = f"{filled[0]} places each" if len({*filled}) == 1 else f"{', '.join(map(str, filled))} places"
    others = "of any two classes" if q == p else f"of two classes that are equal modulo {q // p}"
    return (
        f"by divisibility: the {q} classes modulo {q} have {numbers} to fill; a colour whose difference is a "
        f"multiple of {q} fills {s} places of one class, and any other colour fills as many of one as of the other "
        f"{others}; so with {several(multiples, f'multiple of {q}', f'multiples of {q}')} among the differences, "
        "they cannot be filled"
    )


def _room(problem: ProblemRows) -> str | None:
    n = problem.n
    span = sum(problem.differences) * (problem.copies - 1)
    room = sum(problem.filled[-n:]) - sum(problem.filled[:n])
    if span <= room:
        return None
    return (
        f"for lack of space: in total, the last cubes of all colours would lie {span} places after the first ones, "
        f"but the last {n} filled places lie only {room} after the first {n}"
    )
