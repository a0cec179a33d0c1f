"""Tables of a family's counts: which entries there are, their campaigns, and how they are written.

It uses all rooms that count and verify; only commands use it.
"""
