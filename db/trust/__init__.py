"""Which results are trusted: the draw, votes, voters, terms, and the results that wait to be evaluated again.

It uses :mod:`db.work`.  Only the ledger uses it; the task server alone makes :mod:`db.trust.terms`.
"""
