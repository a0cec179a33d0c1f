"""The task server: its messages, its operations on campaigns, and the application that answers requests.

May use: :mod:`jobs.farm.dashboard`, :mod:`jobs.farm.guard`, :mod:`jobs.show.log`, :mod:`jobs.run` and :mod:`db`.
Others may use: the messages (workers speak them too), and the application (``langford serve``).
"""
