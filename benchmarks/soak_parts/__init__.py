"""Parts of soak.py: one round, what happens to its messages, and workers that share a process."""
