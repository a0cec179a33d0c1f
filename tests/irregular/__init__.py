"""Irregular problems, against oracles that share no code with them."""
