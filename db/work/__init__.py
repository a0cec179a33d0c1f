"""Leases, results and the ends of attempts: every change of state of a task, as a function of a transaction."""
