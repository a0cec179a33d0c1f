"""A report as one page of HTML that needs nothing else: no script, no file beside it, nothing from the network.

This module needs Jinja2, which escapes every text, and matplotlib.
"""

from __future__ import annotations

from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from jobs.show.report.content import document
from jobs.show.report.formats.figures import NARROW, WIDE
from jobs.show.report.formats.svg import inline
from jobs.show.report.gathering import Evidence
from langford.machine.outputs import mark
from langford.words import plain, shortened


def page(evidence: Evidence) -> str:
    here = files("jobs.show.report.formats")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=False)
    environment.filters |= {"visible": plain, "shortened": shortened, "breakable": _breakable}
    pictures = {
        name: [Markup(inline(name, evidence, size, f"{name}-{place}")) for place, size in enumerate((WIDE, NARROW))]
        for name in evidence.figures
    }
    return environment.from_string((here / "page.html").read_text()).render(
        document=document(evidence),
        mark=mark("report"),
        pictures=pictures,
        style=Markup((here / "page.css").read_text()),
    )


def _breakable(text: str) -> Markup:
    """A text that is broken behind the commas of its numbers rather than within a group of digits."""
    return Markup(",<wbr>").join(map(escape, text.split(",")))
