"""Rows: for people as columns, a table or a field per line, for programs as CSV, JSON or Parquet."""
