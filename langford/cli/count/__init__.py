"""The commands that count here and now."""
