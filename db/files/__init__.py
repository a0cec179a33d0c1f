"""Files of results, which are written, read with all checks, and joined; and the forms of messages.

May use: the records, names and errors of :mod:`db`; no SQL.
Others may use: all of it.  Workers and ``langford result --from`` need nothing else of :mod:`db`.
"""
