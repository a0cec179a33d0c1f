"""The defence of a task server against strangers: connections, limits, tokens, cookies."""
