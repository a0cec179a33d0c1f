"""Leases, results and the ends of attempts: every change of state of a task, as a function of a transaction.

It uses the store, the forms of files and the tables, and decides nothing about trust.  Outside of the ledger only
:mod:`db.work.tokens` is used.
"""
