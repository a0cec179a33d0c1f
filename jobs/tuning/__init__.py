"""Measurements on this machine: how long a count takes, and the experiments of ``langford tune``.

It knows no ledger; only commands use it.
"""
