"""Measurements on this machine: how long a count takes, and the experiments of ``langford tune``."""
