"""Exact sums of huge numbers: the limb layout, carry-save accumulation and residues."""
