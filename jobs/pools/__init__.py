"""Processes of this machine that evaluate tasks: pools of them, how they start, and the evaluation of one task.

May use: :mod:`jobs.clock` and the library.
Others may use: all other rooms of :mod:`jobs` stand above this one.
"""
