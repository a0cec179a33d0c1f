"""The CPU kernel of the shifted sum: ``tiles`` has it, the other modules emit its vectors.

Methods use ``tiles``, and from ``patterns`` and ``vectors`` the tables and sizes that they fill.
"""
