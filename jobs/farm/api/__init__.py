"""The task server: its operations on campaigns, and the application that answers requests.

May use: :mod:`jobs.farm.dashboard`, :mod:`jobs.farm.guard`, :mod:`jobs.show.log`, :mod:`jobs.reach` and :mod:`db`.
Others may use: the application (``langford serve``).
"""
