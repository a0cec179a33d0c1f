"""What proves a count: recomputed tasks, confirming campaigns, published values, statements and signatures.

May use: :mod:`jobs.run` and :mod:`db`.
Others may use: reports, and the commands.
"""
