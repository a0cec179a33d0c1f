"""Where the shifted sum's points survive: the shares of docs/shifted.md by sampling, and its picture.

    python benchmarks/shifted_points.py                     n = 16, 20, 24, 28, 31, 32; about two minutes
    python benchmarks/shifted_points.py 28 --points 1e8     one n, more points
    python benchmarks/shifted_points.py 28 --seed 7         the signs of another seed
    python benchmarks/shifted_points.py 28 --factors        single factors, and the size of the products
    python benchmarks/shifted_points.py --figure docs/shifted-3.svg

"plain" are Godfrey's S_d, "c" those with a constant of ±1 where S_d is odd, "ℓ and c" the shifted factors of the
first version, "differences" those of the second one with random signs, "chosen" with the signs that it has; "even
d" and "odd d" are the latter's factors of even and of odd d alone.  Each share is printed with its standard error.
With --factors: of the second version the smallest and the largest share of points at which one factor vanishes, and
the bits of the products that do not vanish, with their standard deviation.  With --figure: what each of the 64
points of L(2,3) adds, before the shift and after it in both versions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Report, parser_of, required, run
from langford.methods.shifted.factors import Differences, Sums
from langford.methods.shifted.forms import Form, Forms
from langford.problem import Problem

SIZES, QUICK_SIZES = (16, 20, 24, 28, 31, 32), (16, 20)
POINTS, QUICK_POINTS = 4e6, 2.5e5
CHUNK = 1 << 18
POINT_SEED = 2024
KINDS = ("plain", "c", "ℓ and c", "differences", "chosen", "even d", "odd d")

DRAWN = Sums(Problem.langford(3), 0), Differences(Problem.langford(3), 0)
NEGATIVE, POSITIVE = "#c0504d", "#4472a8"

Points = NDArray[np.uint64]


def mask(places: list[int]) -> np.uint64:
    """Bit k − 1 for place k."""
    return np.uint64(sum(1 << place - 1 for place in places))


def quadratic_values(form: Form, x: Points) -> NDArray[np.int64]:
    """S_d, with the signs of its terms, at points whose bits are the places with sign −1."""
    negative = [i for i, _ in form.pairs if form.sign_of_term(i) < 0]
    terms = mask([i for i, _ in form.pairs])
    differing = (x ^ x >> np.uint64(form.difference) ^ mask(negative)) & terms
    values: NDArray[np.int64] = len(form.pairs) - 2 * np.bitwise_count(differing).astype(np.int64)
    return values


def linear_values(form: Form, x: Points) -> NDArray[np.int64]:
    """ℓ_d at the points."""
    negative = mask([place for place, sign in form.signs.items() if sign < 0])
    opposite = (x ^ negative) & mask(list(form.signs))
    values: NDArray[np.int64] = len(form.signs) - 2 * np.bitwise_count(opposite).astype(np.int64)
    return values


def shifted_values(form: Form, x: Points) -> NDArray[np.int64]:
    """f_d at the points."""
    return quadratic_values(form, x) + linear_values(form, x) + form.constant


def alive(sums: Forms, unchosen: Forms, chosen: Forms, x: Points) -> dict[str, NDArray[np.bool_]]:
    """Which points have no vanishing factor, for each kind of factors.

    Args:
        sums: the factors of the first version.
        unchosen: those of the second version with random signs.
        chosen: those of the second version with the signs that it has.
        x: the points.
    """
    kept = {kind: np.ones(len(x), np.bool_) for kind in KINDS}
    for form in sums.all:
        plain = quadratic_values(form, x)
        kept["plain"] &= plain != 0
        kept["c"] &= plain + len(form.pairs) % 2 != 0
        kept["ℓ and c"] &= shifted_values(form, x) != 0
    for form in unchosen.all:
        kept["differences"] &= shifted_values(form, x) != 0
    for form in chosen.all:
        shifted = shifted_values(form, x) != 0
        kept["chosen"] &= shifted
        kept["odd d" if form.difference % 2 else "even d"] &= shifted
    return kept


def chunks_of_points(n: int, chunks: int) -> Iterator[Points]:
    """The sample of each n."""
    random = np.random.default_rng(POINT_SEED)
    for _ in range(chunks):
        yield random.integers(0, 2 ** (2 * n) - 1, CHUNK, np.uint64, endpoint=True)


def shares(report: Report, sizes: Sequence[int], chunks: int, seed: int) -> None:
    """The table of the points that survive."""
    table = report.table("n", "points", *KINDS)
    for n in sizes:
        problem, points = Problem.langford(n), chunks * CHUNK
        versions = Sums(problem, seed), Differences(problem, seed, chosen=False), Differences(problem, seed)
        kept = dict.fromkeys(KINDS, 0)
        for x in chunks_of_points(n, chunks):
            for kind, surviving in alive(*versions, x).items():
                kept[kind] += int(np.count_nonzero(surviving))
        living = [kept[kind] / points for kind in KINDS]
        cells = (f"{share:.5f} ± {sqrt(share * (1 - share) / points):.5f}" for share in living)
        table.row(n, f"{points:,}", *cells)


def factors(report: Report, sizes: Sequence[int], chunks: int, seed: int) -> None:
    """The table of single factors and of products."""
    table = report.table("n", "points", "a factor vanishes at", "bits of a product")
    for n in sizes:
        forms = Differences(Problem.langford(n), seed).all
        vanish, bits = np.zeros(len(forms)), []
        for x in chunks_of_points(n, chunks):
            values = np.array([shifted_values(form, x) for form in forms])
            vanish += np.count_nonzero(values == 0, axis=1)
            living = values[:, (values != 0).all(axis=0)]
            bits.append(np.log2(np.abs(living) / 4).sum(axis=0))
        vanishing, sizes_of_products = vanish / (chunks * CHUNK), np.concatenate(bits)
        spread = f"{sizes_of_products.mean():.1f} ± {sizes_of_products.std():.1f}"
        table.row(n, f"{chunks * CHUNK:,}", f"{100 * vanishing.min():.1f} to {100 * vanishing.max():.1f}%", spread)


def signs(bits: int) -> str:
    """Three signs as text."""
    return "".join("−" if bits >> k & 1 else "+" for k in (2, 1, 0))


def point(u: int, v: int) -> dict[int, int]:
    """The signs of the six places: u at 1, 3, 5 and v at 2, 4, 6."""
    return {2 * k + parity: 1 - 2 * (bits >> 2 - k & 1) for bits, parity in ((u, 1), (v, 2)) for k in range(3)}


def plain_term(x: dict[int, int]) -> int:
    """What a point adds to Godfrey's sum."""
    return prod(x.values()) * prod(sum(x[i] * x[j] for i, j in form.pairs) for form in DRAWN[0].all)


def shifted_term(forms: Forms, x: dict[int, int]) -> int:
    """What it adds to the shifted sum."""
    return forms.sign * prod(x.values()) * prod(form.value(x) // 4 for form in forms.all)


def draw(file: Path) -> None:
    """What each point of L(2,3) adds, as three grids."""
    matplotlib, pyplot = required("matplotlib"), required("matplotlib.pyplot")
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "shifted", "font.family": "DejaVu Sans", "font.size": 9})
    figure, axes = pyplot.subplots(1, 3, figsize=(14.4, 5.1), layout="constrained")
    shown: tuple[tuple[Callable[[dict[int, int]], int], str], ...] = (
        (plain_term, "Godfrey's sum"),
        (partial(shifted_term, DRAWN[0]), "with sums"),
        (partial(shifted_term, DRAWN[1]), "with differences"),
    )
    for axis, (term, name) in zip(axes, shown, strict=True):
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
    metadata = {"Date": None} if file.suffix == ".svg" else {}
    figure.savefig(file, metadata=metadata, dpi=110)


def main(options: argparse.Namespace, report: Report) -> None:
    """Print a table, or draw the picture."""
    if options.figure:
        draw(options.figure)
        return
    points = options.points or (QUICK_POINTS if options.quick else POINTS)
    table = factors if options.factors else shares
    sizes = options.n or (QUICK_SIZES if options.quick else SIZES)
    table(report, sizes, max(1, round(points / CHUNK)), options.seed)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("n", type=int, nargs="*", help=f"by default {', '.join(map(str, SIZES))}")
    parser.add_argument("--points", type=float, help=f"of each n; by default {POINTS:.0e}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--factors", action="store_true")
    parser.add_argument("--figure", type=Path, metavar="FILE")
    run(parser, main)
