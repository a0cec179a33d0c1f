"""A campaign as a report that can be read, printed and cited: numbers, figures and text, in one file.

:mod:`jobs.show.report.evidence` gathers what is known, :mod:`numbers <jobs.show.report.numbers>` and
:mod:`timeline <jobs.show.report.timeline>` compute from it, :mod:`content <jobs.show.report.content>` says it in
words and tables, and :mod:`html <jobs.show.report.html>`, :mod:`pdf <jobs.show.report.pdf>` and :mod:`figures
<jobs.show.report.figures>` make files of it.
"""
