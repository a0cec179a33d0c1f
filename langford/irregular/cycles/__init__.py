"""Cycles of optimal mean or ratio, and the event graphs and transition systems whose pace they set.

:mod:`langford.irregular` names what its users need.
"""
