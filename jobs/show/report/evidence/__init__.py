"""What is known of a campaign, and computed from it.

:mod:`gathering <jobs.show.report.evidence.gathering>` gathers it, from a ledger or from exported files; reports use
the class ``Evidence`` there, and the words of :mod:`origins <jobs.show.report.evidence.origins>`.
"""
