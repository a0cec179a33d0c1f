"""What a ledger shows: overviews, history, events, and queries by users.

It changes no task, attempt or result; :mod:`db.look.notices` records which notices were sent.
"""
