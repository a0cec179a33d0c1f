"""Queries by users: views, named questions, and their own SQL.  None of them can change the ledger."""

from db.look.sql.catalogue import QUESTIONS
from db.look.sql.named import Filters, Question, ask
from db.look.sql.read_only import Answer, BadQuery, ask_sql

__all__ = ["QUESTIONS", "Answer", "BadQuery", "Filters", "Question", "ask", "ask_sql"]
