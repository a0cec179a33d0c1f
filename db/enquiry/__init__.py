"""Questions of people to a ledger: views, named questions, and their own SQL.  Nothing here can change anything.

:mod:`db.enquiry.read_only` opens connections that cannot write, :mod:`db.enquiry.catalogue` has
the questions.
"""

from db.enquiry.catalogue import QUESTIONS
from db.enquiry.named import Filters, Question, ask
from db.enquiry.read_only import Answer, BadQuery, QueryTooSlow, ask_sql

__all__ = ["QUESTIONS", "Answer", "BadQuery", "Filters", "QueryTooSlow", "Question", "ask", "ask_sql"]
