"""The commands for what campaigns found: merge, verify, confirm, exchange, ask and report results."""
