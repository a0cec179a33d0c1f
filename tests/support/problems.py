"""Problems that property tests draw."""

from __future__ import annotations

from hypothesis import strategies as st

from langford.problem import Problem

SMALL_SETS = st.sets(st.integers(1, 9), min_size=1, max_size=5).flatmap(
    lambda differences: st.builds(
        Problem.from_differences,
        st.just(differences),
        st.none(),
        st.sets(st.integers(1, 2 * len(differences) + 2), max_size=2).map(
            lambda holes: {hole for hole in holes if hole <= 2 * len(differences) + len(holes)}
        ),
    )
)
"""Up to five differences, and up to two holes in the row."""

FOLDED_SETS = st.sampled_from([(2, 1), (2, 2), (2, 3), (3, 1), (3, 2)]).flatmap(
    lambda sizes: st.builds(
        Problem.from_differences,
        st.sets(st.integers(1, 7), min_size=sizes[1], max_size=sizes[1]),
        empty=st.one_of(st.just(()), st.integers(1, 2 * sizes[0] * sizes[1] + 1).map(lambda hole: (hole,))),
        fold=st.just(sizes[0]),
    )
)
"""Up to six colours, two or three of each difference, and at most one hole in the row."""

HOLED_SETS = st.sets(st.integers(1, 7), min_size=1, max_size=4).flatmap(
    lambda differences: st.builds(
        Problem.from_differences,
        st.just(differences),
        empty=st.one_of(st.just(()), st.integers(1, 2 * len(differences) + 2).map(lambda hole: (hole,))),
        holes=st.integers(1, 2),
    )
)
"""Up to four differences, one or two holes anywhere, and at most one given in the row."""


@st.composite
def _circles(draw: st.DrawFn, most_places: int = 16) -> Problem:
    places = draw(st.integers(2, most_places))
    differences = draw(st.sets(st.integers(1, places // 2), min_size=max(1, (places - 4) // 2)))
    full = 2 * len(differences) == places
    holes = draw(st.permutations(range(1, places + 1)))[: 0 if full else places - 2 * len(differences)]
    return Problem.from_differences(differences, places, holes, circle=True)


CIRCLES = _circles()
"""Circles of up to 16 places with any differences, of which all places or all but a few are filled."""
