"""What the database of a ledger contains: tables, views, rights; in the dialects of SQLite and Postgres.

May use: the states and errors of :mod:`db`.
Others may use: all of it in :mod:`db`; outside of :mod:`db` nothing.
"""
