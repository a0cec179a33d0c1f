"""Measurements on this machine: how long a count takes, and the experiments of ``langford tune``.

The experiments find the settings that count fastest, and repeat those of Loiseau's thesis (sections 1.2.4 and 1.3).
"""
