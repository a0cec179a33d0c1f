"""The task server: its operations on campaigns, and the application that answers requests."""
