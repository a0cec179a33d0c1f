"""Tests of the command line, of its pages, and of what commands verify and report."""
