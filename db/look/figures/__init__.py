"""What was done and lost, at what speed, and who was occupied: each is computed here, for overviews and reports.

The words are defined in :mod:`db.schema.measures`, which the views of the ledger share.
"""
