"""A campaign of a ledger: its record (:mod:`db.campaign.stored`), and an object for each who uses it.

These are :mod:`db.campaign.worker`, :mod:`db.campaign.operator` and :mod:`db.campaign.reader`.  They use the rooms
beside this one (work, trust, look, files), which use none of it.
"""
