"""What proves a count: recomputed tasks, confirming campaigns, published values, statements and signatures.

It reads ledgers and exported files, evaluates tasks in this process, and runs no campaign.
"""
