"""The commands for campaigns in a ledger: create, work off, inspect, requeue and end them."""
