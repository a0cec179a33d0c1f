"""The time that a campaign still takes: arithmetic, without a database."""
