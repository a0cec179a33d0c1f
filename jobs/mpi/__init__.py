"""Counting with MPI: every rank evaluates its share, or rank 0 gives the tasks of a ledger to the others.

Messages are JSON.  A rank that waits sleeps, it does not spin.  When one rank dies, MPI ends them all: the
ledger has the results that were committed, and the next run goes on from there.
"""
