"""Where a ledger is kept: engines, transactions, files and their places, the schema's revision, copies."""
