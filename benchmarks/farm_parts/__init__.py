"""Parts of farm.py: what a campaign, a claim, a large server, a whole farm and a pool cost."""
