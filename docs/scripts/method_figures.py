"""The pictures of the pages: what each method does for L(2,3), drawn from its plan, and who computes what.

python -m docs.scripts.method_figures docs
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
from matplotlib import pyplot

from docs.scripts import (
    best_effort_figure,
    carry_figure,
    godfrey_figure,
    levels_figure,
    polyphase_figure,
    search_figure,
)

FIGURES = {
    "search-3.svg": search_figure.figure,
    "godfrey-3.svg": godfrey_figure.figure,
    "polyphase-3.svg": polyphase_figure.figure,
    "levels.svg": levels_figure.figure,
    "carry-save.svg": carry_figure.figure,
    "best-effort.svg": best_effort_figure.figure,
}
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "methods", "font.family": "DejaVu Sans", "font.size": 9}


def main(folder: Path, suffix: str = ".svg") -> None:
    """Draw all of them into a folder."""
    matplotlib.use("Agg")
    with matplotlib.rc_context(STYLE):
        for name, draw in FIGURES.items():
            figure = draw()
            metadata = {"Date": None} if suffix == ".svg" else {}
            figure.savefig((folder / name).with_suffix(suffix), metadata=metadata, dpi=110)
            pyplot.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
