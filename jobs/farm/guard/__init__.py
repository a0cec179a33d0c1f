"""The defence of a task server against strangers: connections, limits, tokens, cookies.

It knows no message of workers.  The server and the dashboard use it.
"""
