"""Benchmarks: what counting, the farm and the ledger cost.

    python -m benchmarks                     the list
    python -m benchmarks all --quick         every one at its smallest size
    python benchmarks/methods.py --help      one of them, with its own options

Each module of this folder with a command line is one benchmark, listed in ``catalogue``.  All of them
measure and print by ``harness``; a folder ``NAME_parts`` holds what belongs to one benchmark alone.
"""
