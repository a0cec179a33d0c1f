"""A worker of a task server: its client, its outbox, and the source of tasks for its run.

May use: the messages of :mod:`jobs.farm.api`, :mod:`jobs.run` and :mod:`db`.
Others may use: the client (queue keepers, ``langford status URL``), and the source (``langford work``).
"""
