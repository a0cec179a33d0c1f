"""A campaign as a report that can be read, printed and cited: numbers, figures and text, in one file.

:mod:`jobs.report.evidence` gathers what is known, :mod:`numbers <jobs.report.numbers>` and
:mod:`timeline <jobs.report.timeline>` compute from it, :mod:`content <jobs.report.content>` says it in words and
tables, and :mod:`html <jobs.report.html>`, :mod:`pdf <jobs.report.pdf>` and :mod:`figures <jobs.report.figures>`
make files of it.
"""
