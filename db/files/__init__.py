"""Files of results, which are written, read with all checks, and joined; and the forms of messages."""
