"""Counting with MPI: every rank evaluates its share, or rank 0 gives the tasks of a ledger to the others.

Its ranks are a pool; only commands use it.
"""
