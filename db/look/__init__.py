"""Questions to a ledger that change nothing: overviews, history, events, notices, and SQL of people.

May use: :mod:`db.trust`, :mod:`db.work`, :mod:`db.files`, :mod:`db.store`, and the records and states of :mod:`db`.
Others may use: overviews, history, events, notices and ``sql``, by these names.
"""
