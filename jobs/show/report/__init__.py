"""A campaign as a report that can be read, printed and cited: numbers, figures and text, in one file."""
