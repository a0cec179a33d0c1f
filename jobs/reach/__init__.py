"""A campaign, however it is reached: in a ledger or behind a task server, and what to do when it is away.

May use: :mod:`jobs.clock`, :mod:`jobs.console`, :mod:`jobs.addresses`, :mod:`db` and the library.
Others may use: all of it; the task server reads and writes the same messages.
"""
