"""Tables of a family's counts: which entries there are, their campaigns, and how they are written."""
