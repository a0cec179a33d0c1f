"""Where a ledger is kept: addresses, engines, transactions, files and their places, the schema's revision, copies.

It uses only the tables.  Outside of the ledger ``addresses``, ``copying``, ``database`` and ``revision`` are used.
"""
