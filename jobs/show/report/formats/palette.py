"""The colours of figures: some for files, and names that a page replaces by its own, in light and dark."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Palette:
    """Colours as #rrggbb.

    Attributes:
        first, second: what is shown.
        cloud: one point of many; thousands are a bitmap, which is the same in light and dark.
        ground: behind everything; empty where the page shows through.
    """

    ink: str
    faint: str
    first: str
    second: str
    bad: str
    cloud: str = "#4a8fd0"
    ground: str = ""


PAPER = Palette("#1b1f24", "#d5dae0", "#1f6fb5", "#b45309", "#c22f2f", ground="#ffffff")
"""For files: on white."""
PAGE = Palette("#0a0b01", "#0a0b02", "#0a0b03", "#0a0b04", "#0a0b05")
"""For pages of HTML: each stands for a variable of the page's style, see :func:`with_variables`."""


def with_variables(svg: str) -> str:
    """A picture drawn in the colours of PAGE, with the variables --ink, --faint, --first, … in their place."""
    for field in fields(PAGE):
        if field.name not in ("cloud", "ground"):
            svg = svg.replace(getattr(PAGE, field.name), f"var(--{field.name})")
    return svg
