"""Leases and the ends of attempts: every change of state of a task, as a function within one transaction.

May use: :mod:`db.store`, :mod:`db.files`, and the records, states, names and errors of :mod:`db`.
Others may use: everything here is for :mod:`db.trust`, :mod:`db.look` and the face of :mod:`db`; above :mod:`db`
only ``tokens.digest`` and ``nonces`` are used.
"""
