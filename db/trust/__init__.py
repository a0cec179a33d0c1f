"""Which results are trusted: the draw, votes, voters, and the results that wait to be evaluated again.

May use: :mod:`db.work`, :mod:`db.store`, :mod:`db.files`, and the records, states and errors of :mod:`db`.
Others may use: :mod:`db.look` and the face of :mod:`db`; nothing outside of :mod:`db`.
"""
