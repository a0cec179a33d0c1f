"""Files of results, which are written, read with all checks, and joined; and the forms of their lines.

It opens no ledger, so that a file can be merged without one.
"""
