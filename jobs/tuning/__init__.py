"""The experiments of ``langford tune``: which settings count fastest on this machine.

They repeat the experiments of Loiseau's thesis (sections 1.2.4 and 1.3) on this machine.
"""
