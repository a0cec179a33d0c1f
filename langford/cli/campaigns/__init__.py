"""The commands of campaigns in a ledger: run, look, verify, move, end."""
