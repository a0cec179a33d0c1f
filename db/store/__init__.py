"""Where a ledger is kept: engines, transactions, files and their places, the schema's revision, copies of ledgers.

May use: :mod:`db.schema`, and the states and errors of :mod:`db`.
Others may use: all of it in :mod:`db`; outside of :mod:`db` only ``copying``, ``revision``, and the addresses of
``database``.
"""
