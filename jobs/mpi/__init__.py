"""Counting with MPI: every rank a worker (static), or rank 0 with the ledger and the others its workers.

Messages are JSON; a rank that waits sleeps, it does not spin.  MPI ends all ranks when one dies: then
the ledger has what was committed, and the next run goes on from there.
"""
