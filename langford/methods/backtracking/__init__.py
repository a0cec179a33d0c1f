"""Backtracking on bit masks: Miller's algorithm and its regularised form."""
