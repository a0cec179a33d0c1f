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


@st.composite
def _circles(draw: st.DrawFn, most_places: int = 16) -> Problem:
    places = draw(st.integers(2, most_places))
    differences = draw(st.sets(st.integers(1, places // 2), min_size=max(1, (places - 4) // 2)))
    full = 2 * len(differences) == places
    holes = draw(st.permutations(range(1, places + 1)))[: 0 if full else places - 2 * len(differences)]
    return Problem.from_differences(differences, places, holes, circle=True)


CIRCLES = _circles()
"""Circles of up to 16 places with any differences, of which all places or all but a few are filled."""
