"""The commands for campaigns in a ledger: run, inspect, verify, move and end them."""
