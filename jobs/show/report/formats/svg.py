"""Figures as SVG: for files, and for pages, where they take the page's colours and font."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

import matplotlib
from matplotlib.figure import Figure

from jobs.show.report.formats.figures import PAGE, PAPER, Format, draw, with_variables
from jobs.show.report.gathering import Evidence
from langford.machine.outputs import mark

SVG, LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
REFERENCE = re.compile(r"#([\w-]+)")


def standing_alone(name: str, evidence: Evidence) -> bytes:
    return _drawn(draw(name, evidence, PAPER), name)


def inline(name: str, evidence: Evidence, size: Format, salt: str) -> str:
    """``salt``: goes into the names in it, and is that of no other figure of the page."""
    drawn = _drawn(draw(name, evidence, PAGE, size), salt)
    root, used = ElementTree.fromstring(drawn), set(REFERENCE.findall(drawn.decode()))
    for parent in root.iter():
        for child in [child for child in parent if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style")]:
            parent.remove(child)
        # Those to which nothing refers are the same in each figure.
        if parent.get("id") not in used:
            parent.attrib.pop("id", None)
    for size_name in ("width", "height"):
        root.attrib.pop(size_name, None)
    root.set("role", "img")
    root.set("aria-label", f"Figure: {name.replace('-', ' ')}")
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", LINK)
    return with_variables(ElementTree.tostring(root, encoding="unicode"))


def _drawn(figure: Figure, salt: str) -> bytes:
    content = io.BytesIO()
    # Text stays text, and equal figures give equal bytes.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        figure.savefig(content, format="svg", metadata={"Date": None, "Creator": mark("report")})
    return content.getvalue()
