"""Options that commands share: their types, single options, and groups.  All commands use it."""
