"""The formats of a report: a page of HTML, pages of PDF, figures as SVG.

The command line uses :mod:`files <jobs.show.report.formats.files>`, which chooses by the name of a file.
"""
