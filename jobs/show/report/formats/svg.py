"""Figures as SVG: for files, and for pages, where they take the page's colours and font."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

import matplotlib
from matplotlib.figure import Figure

from jobs.show.report.formats.figures import DPI, PAGE, PAPER, Format, draw, with_variables
from jobs.show.report.gathering import Evidence

SVG, LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
REFERENCE = re.compile(r"#([\w-]+)")


def standing_alone(name: str, evidence: Evidence) -> bytes:
    return _drawn(draw(name, evidence, PAPER), name)


def inline(name: str, evidence: Evidence, size: Format, prefix: str) -> str:
    """``prefix``: of the names in it, which no other figure of the page has."""
    root = ElementTree.fromstring(_drawn(draw(name, evidence, PAGE, size), prefix))
    for parent in root.iter():
        for child in [child for child in parent if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style")]:
            parent.remove(child)
    for size_name in ("width", "height"):
        root.attrib.pop(size_name, None)
    root.set("role", "img")
    root.set("aria-label", f"Figure: {name.replace('-', ' ')}")
    _rename(root, prefix)
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", LINK)
    return with_variables(ElementTree.tostring(root, encoding="unicode"))


def _drawn(figure: Figure, salt: str) -> bytes:
    content = io.BytesIO()
    # Text stays text, and equal figures give equal bytes.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        figure.savefig(content, format="svg", dpi=DPI, metadata={"Date": None})
    return content.getvalue()


def _rename(root: ElementTree.Element, prefix: str) -> None:
    """Give the names that something refers to a prefix, and drop the others."""
    elements = list(root.iter())
    used = {
        name
        for element in elements
        for attribute, value in element.attrib.items()
        if attribute != "id" and "data:" not in value
        for name in REFERENCE.findall(value)
    }
    for element in elements:
        name = element.attrib.pop("id", None)
        if name in used:
            element.set("id", f"{prefix}-{name}")
        for attribute, value in element.attrib.items():
            if "url(#" in value or value.startswith("#"):
                element.set(attribute, REFERENCE.sub(lambda match: _renamed(match, used, prefix), value))


def _renamed(match: re.Match[str], used: set[str], prefix: str) -> str:
    return f"#{prefix}-{match[1]}" if match[1] in used else match[0]
