"""Parts of large_ledger.py: the ledgers that it makes, and what it measures on them."""
