"""What a ledger shows: overviews, history, events, and queries by users.

It changes nothing.
"""
