"""What commands print: answers, tables, progress and formats, safe on any terminal.  All commands use it."""
