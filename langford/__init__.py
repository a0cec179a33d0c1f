"""Count Langford pairings and their relatives, exactly."""

from langford.problem import Problem

__all__ = ["Problem", "__version__"]
__version__ = "0.1.0"
