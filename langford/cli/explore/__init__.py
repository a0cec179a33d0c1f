"""The commands that list, draw, examine, tune and measure.  Only the table of commands names them."""
