"""The defence of a task server against strangers: connections, limits, tokens, cookies, the listening socket.

May use: :mod:`jobs.show.log` and :mod:`db`.
Others may use: the task server and its dashboard.
"""
