"""The delayed-carry integer: three terms added limb by limb, and the carries spread once in the end.

The numbers are those of the kernels of the processor, :mod:`langford.kernels.cpu.carry_save`.
"""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from langford.arithmetic.limbs import DIGIT_BITS, Limbs, to_int, zero
from langford.kernels.cpu.carry_save import add_words, spread_carries

TERMS = (2**64 - 2**20, 2**64 - 3, 5 * 2**60)
BOUND = 2**100


def rows() -> list[tuple[str, Limbs, int]]:
    """(what was done, the limbs after it, the value), from zero to the spread sum."""
    limbs = zero(BOUND)
    shown = [("0", limbs.copy(), 0)]
    for term in TERMS:
        words = np.array([term & (2**64 - 1), term >> 64], np.uint64).view(np.int64)
        add_words(limbs, words, 0, len(words), 1)
        shown.append((f"+ {term:#x}", limbs.copy(), to_int(limbs)))
    spread_carries(limbs)
    return [*shown, ("carries spread", limbs.copy(), to_int(limbs))]


def figure() -> Figure:
    """A row for each step: what is above a digit's 32 bits is red until the carries are spread."""
    steps = rows()
    drawn, axis = pyplot.subplots(figsize=(8.6, 3.2), layout="constrained")
    for k, (what, limbs, _) in enumerate(steps):
        axis.text(-0.1, -k, what, ha="right", va="center", family="DejaVu Sans Mono", fontsize=8)
        for column, limb in enumerate(map(int, limbs[::-1])):
            excess, digit = limb >> DIGIT_BITS, limb & (2**DIGIT_BITS - 1)
            axis.add_patch(Rectangle((column, -k - 0.4), 0.95, 0.8, facecolor="#eef3f9", edgecolor="#7ea6d8"))
            if excess:
                axis.text(
                    column + 0.04, -k, f"{excess:+d}·2³²", va="center", fontsize=7.5, color="#c0504d", weight="bold"
                )
            axis.text(
                column + 0.91, -k, f"{digit:08x}", ha="right", va="center", family="DejaVu Sans Mono", fontsize=8
            )
    width = len(steps[0][1])
    for column in range(width):
        axis.text(column + 0.48, 0.75, f"limb {width - 1 - column}", ha="center", fontsize=8, color="#555555")
    axis.set(xlim=(-1.6, width), ylim=(-len(steps) + 0.4, 1.1))
    axis.axis("off")
    return drawn
