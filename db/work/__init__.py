"""Leases, results and the ends of attempts: every change of state of a task, as a function of a transaction.

May use: :mod:`db.store`, :mod:`db.files`, and the records, states, names and errors of :mod:`db`.
Others may use: all of it in :mod:`db.trust`, :mod:`db.look` and the face of :mod:`db`; outside of :mod:`db` only
``tokens`` and ``nonces``.
"""
