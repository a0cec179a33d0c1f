"""Exact sums of huge numbers: the limb layout, carry-save accumulation and residues.

It knows problems, and no method.  Others use all of it.
"""
