"""The formats of a report: a page of HTML, figures as SVG."""
