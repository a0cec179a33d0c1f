"""Cycles of optimal mean or ratio.

:mod:`langford.irregular` names what its users need.
"""
