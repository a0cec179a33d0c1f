"""A campaign as a report that can be read, printed and cited: numbers, figures and text, in one file.

:mod:`jobs.show.report.evidence` is what is known of a campaign, :mod:`content <jobs.show.report.content>` says it
in words and tables, and :mod:`jobs.show.report.formats` makes files of it.
"""
