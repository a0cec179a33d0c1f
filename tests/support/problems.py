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
