"""How many places a circle may have, and a task may fix."""

from __future__ import annotations

MAX_PLACES = 64
"""A sequence of signs is a machine word."""
NONE = 1 << 20
"""In the place of e_d, for a d that is no difference: far from every D_d/2, so that no factor seems to vanish."""
MAX_HOLES = 6
"""The sum of the signs to this power, times the rotations, is below 2^42."""
MIN_FREE = 6
"""The last places of a word, which no task fixes: kernels test the words that differ only there together."""
MAX_DEPTH = 26
TASK_PLACES = 34
"""Places that run freely in a task of about a minute on a core."""
