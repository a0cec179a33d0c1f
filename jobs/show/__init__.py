"""What people read: reports, notifications, the log of a server, and the words for durations, rates and events.

May use: :mod:`jobs.verify`, :mod:`jobs.run` and :mod:`db`.
Others may use: the farm (its log), and the commands.
"""
