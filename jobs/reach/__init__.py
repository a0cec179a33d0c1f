"""A campaign, however it is reached: in a ledger or behind a task server, and what to do when it is away.

Runs, tables, queue keepers and commands reach campaigns through it; the server reads the messages that it sends.
"""
