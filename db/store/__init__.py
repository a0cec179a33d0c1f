"""Where a ledger is kept: engines, dialects, tables, schema, migrations, views, and copies of whole ledgers.

May use: the states and errors of :mod:`db`.
Others may use: :mod:`db` only, but for ``copying``, ``schema`` and ``views``, which commands call.
"""
