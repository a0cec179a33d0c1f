"""The command line: each command parses its arguments, calls a library, and prints the outcome."""
