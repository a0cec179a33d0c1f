"""What people read: reports, notifications, the log of a server, and the words for durations, rates and events."""
