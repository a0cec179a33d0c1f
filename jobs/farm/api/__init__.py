"""The task server: its operations on campaigns, and the application that answers requests.

It alone uses the dashboard, and sets terms for the bearers of tokens; only commands use it.
"""
