"""What a ledger shows: overviews, history, events, notices, and queries by users."""
