"""Campaigns of many machines: a task server, and the workers that take its tasks over HTTP."""
