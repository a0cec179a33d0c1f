"""Options that commands share: their types, single options, and groups that become one argument."""
