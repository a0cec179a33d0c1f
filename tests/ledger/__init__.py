"""Tests of the ledger, on SQLite and on Postgres."""
