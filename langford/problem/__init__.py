"""What is counted: problems, their named families, proofs that no arrangement exists, congruences of
counts, and what is published.

It uses errors and words, and computes no count.  Others use all of it.
"""

from __future__ import annotations

from langford.problem.bounds import MAX_PLACES
from langford.problem.problem import Problem, problem_of

__all__ = ["MAX_PLACES", "Problem", "problem_of"]
