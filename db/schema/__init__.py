"""What the database of a ledger contains: tables, views, rights; in the dialects of SQLite and Postgres.

Only the ledger uses it: nobody else writes SQL.
"""
