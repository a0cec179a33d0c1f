"""Forests: accumulations over them, matrices with their graph, and the search trees of a problem.

:mod:`langford.irregular` names what its users need.
"""
