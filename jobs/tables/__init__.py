"""Tables of a family's counts: which entries there are, their campaigns, and how they are written.

May use: :mod:`jobs.run`, :mod:`jobs.verify`, :mod:`jobs.tuning` and :mod:`db`.
Others may use: ``langford table``.
"""
