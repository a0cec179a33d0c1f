"""Campaigns on many machines: a task server, and workers that lease tasks from it over HTTP."""
