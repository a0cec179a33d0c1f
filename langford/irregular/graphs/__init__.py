"""Graphs in compressed sparse rows: breadth-first searches, strong components, and the Graph500 benchmark.

:mod:`langford.irregular` names what its users need.
"""
