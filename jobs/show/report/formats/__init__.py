"""The formats of a report: a page of HTML, pages of PDF, figures as SVG."""
