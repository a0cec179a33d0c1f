"""Files of results: written, read with suspicion, and joined; and the checks of documents that strangers wrote.

May use: the records, names and errors of :mod:`db`.  No SQL.
Others may use: all of it; workers and ``langford result --from`` need no more of :mod:`db` than this.
"""
