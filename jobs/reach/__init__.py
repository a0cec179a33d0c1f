"""A campaign, however it is reached: in a ledger or behind a task server, and what to do when it is away."""
