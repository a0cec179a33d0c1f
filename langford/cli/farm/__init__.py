"""The commands of a farm: create, token, serve, work, release.  Only the table of commands names them."""
