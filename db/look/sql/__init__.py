"""Questions of people to a ledger: views, named questions, and their own SQL.  Nothing here can change anything.

:mod:`db.look.sql.read_only` opens connections that cannot write, :mod:`db.look.sql.catalogue` has
the questions.
"""

from db.look.sql.catalogue import QUESTIONS
from db.look.sql.named import Filters, Question, ask
from db.look.sql.read_only import Answer, BadQuery, ask_sql

__all__ = ["QUESTIONS", "Answer", "BadQuery", "Filters", "Question", "ask", "ask_sql"]
