"""How many places a circle may have, and a task may fix."""

from __future__ import annotations

MAX_PLACES = 64
"""A sequence of signs is a machine word."""
MIN_FREE = 6
"""The last places of a word, which no task fixes: kernels test the words that differ only there together."""
MAX_DEPTH = 26
TASK_PLACES = 34
"""Places that run freely in a task of about a minute on a core."""
