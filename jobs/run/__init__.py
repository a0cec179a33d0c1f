"""The one loop of every worker: lease, evaluate, deliver, renew, stop; its sources of tasks.

May use: :mod:`jobs.reach`, :mod:`jobs.pools`, :mod:`db` and the library.
Others may use: all other rooms of :mod:`jobs` stand above this one.
"""
