"""The experiments behind ``langford tune``: which settings count fastest on this machine.

They repeat those of Loiseau's thesis (chapter 1.2.4 and 1.3) on whatever hardware there is.
"""
