"""The commands that list, draw, examine, tune and measure."""
