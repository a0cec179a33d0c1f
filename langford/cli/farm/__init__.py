"""The commands of a farm: create, token, serve, work, release."""
