"""What a ledger shows: overviews, history, events, notices, and queries by users.

May use: :mod:`db.trust`, :mod:`db.work`, :mod:`db.files`, :mod:`db.store`, and the records and states of :mod:`db`.
Others may use: ``overview``, ``history``, ``events``, ``notices`` and ``sql``.
"""
