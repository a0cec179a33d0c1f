"""The picture of docs/shifted.md: what each of the 64 points of L(2,3) adds, before and after the shift.

python benchmarks/shifted_figure.py docs/shifted-3.svg
"""

from __future__ import annotations

import sys
from math import prod

import matplotlib
from matplotlib import pyplot

from langford.methods.shifted.forms import Forms
from langford.problem import Problem

matplotlib.use("Agg")
PROBLEM = Problem.langford(3)
FORMS = Forms(PROBLEM, 0)
NEGATIVE, POSITIVE = "#c0504d", "#4472a8"


def signs(bits: int) -> str:
    """Three signs as text."""
    return "".join("−" if bits >> k & 1 else "+" for k in (2, 1, 0))


def point(u: int, v: int) -> dict[int, int]:
    """The signs of the six places: u at 1, 3, 5 and v at 2, 4, 6."""
    return {2 * k + parity: 1 - 2 * (bits >> 2 - k & 1) for bits, parity in ((u, 1), (v, 2)) for k in range(3)}


def plain(x: dict[int, int]) -> int:
    """What a point adds to Godfrey's sum."""
    return prod(x.values()) * prod(sum(x[i] * x[j] for i, j in form.pairs) for form in FORMS.all)


def shifted(x: dict[int, int]) -> int:
    """What it adds to the shifted sum."""
    return prod(x.values()) * prod(form.value(x) // 4 for form in FORMS.all)


def main(file: str) -> None:
    matplotlib.rcParams.update({"svg.hashsalt": "shifted", "font.family": "DejaVu Sans", "font.size": 9})
    figure, axes = pyplot.subplots(1, 2, figsize=(9.6, 5.1), layout="constrained")
    for axis, term, name in ((axes[0], plain, "Godfrey's sum"), (axes[1], shifted, "shifted sum")):
        values = [[term(point(u, v)) for v in range(8)] for u in range(8)]
        flat = [value for row in values for value in row]
        largest = max(map(abs, flat))
        for u, row in enumerate(values):
            for v, value in enumerate(row):
                strength = 0.15 + 0.75 * abs(value) / largest
                shade = (NEGATIVE if value < 0 else POSITIVE, strength) if value else "#ffffff"
                axis.add_patch(pyplot.Rectangle((v, u), 1, 1, facecolor=shade, edgecolor="#bbbbbb", linewidth=0.6))
                text = str(value).replace("-", "−")
                colour = "#bbbbbb" if not value else "white" if strength > 0.6 else "black"
                axis.text(v + 0.5, u + 0.5, text, ha="center", va="center", color=colour)
        kept = sum(value != 0 for value in flat)
        axis.set_title(f"{name}: {kept} of 64 terms are not 0; total {sum(flat)}", fontsize=10)
        axis.set(xlim=(0, 8), ylim=(8, 0), aspect="equal", xlabel="v: signs of places 2, 4, 6")
        axis.set_xticks([k + 0.5 for k in range(8)], [signs(k) for k in range(8)])
        axis.set_yticks([k + 0.5 for k in range(8)], [signs(k) for k in range(8)])
        axis.tick_params(length=0)
        axis.spines[:].set_visible(False)
    axes[0].set_ylabel("u: signs of places 1, 3, 5")
    metadata = {"Date": None} if file.endswith(".svg") else {}
    figure.savefig(file, metadata=metadata, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1])
