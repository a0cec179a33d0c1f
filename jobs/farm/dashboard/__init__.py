"""The dashboard: pages that show in a browser what the task server's API answers.

It uses the guard; the server mounts its pages.
"""
