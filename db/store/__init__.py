"""Where a ledger is kept: engines, transactions, dialects, tables, schema, migrations, views, copies of ledgers.

May use: the states and errors of :mod:`db`.
Others may use: all of it in :mod:`db`; outside of :mod:`db` only ``copying``, ``schema`` and ``views``.
"""
