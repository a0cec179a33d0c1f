"""The commands for campaigns in a ledger, and what others share with them: ``running``."""
