"""The commands for what campaigns found: merge, verify, confirm, exchange, ask, report.  Nobody imports them."""
