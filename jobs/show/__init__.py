"""What people read: reports, notifications, the log of a server, and the words for durations, rates and events.

It says what :mod:`db.look` and :mod:`jobs.verify` found, and changes no campaign.
"""
