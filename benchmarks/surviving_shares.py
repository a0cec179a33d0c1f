"""The share of points at which no factor vanishes: the table of docs/shifted.md, by sampling.

    python benchmarks/surviving_shares.py                   n = 16, 20, 24, 28, 31, 32; about two minutes
    python benchmarks/surviving_shares.py 28 --points 1e8   one n, more points
    python benchmarks/surviving_shares.py 28 --seed 7       the signs of another seed
    python benchmarks/surviving_shares.py 28 --factors      single factors, and the size of the products

"plain" are Godfrey's S_d, "c" those with a constant of ±1 where S_d is odd, "ℓ and c" the shifted factors,
all of them, those of even d alone and those of odd d alone.  Behind each share is its standard error.  With
--factors: the smallest and the largest share of points at which one factor vanishes, and the bits of the
products that do not, with their standard deviation.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np
from harness import Table
from numpy.typing import NDArray

from langford.methods.shifted.forms import Form, Forms
from langford.problem import Problem

SIZES = (16, 20, 24, 28, 31, 32)
POINTS = 4e6
CHUNK = 1 << 18
POINT_SEED = 2024
KINDS = ("plain", "c", "ℓ and c", "even d", "odd d")

Points = NDArray[np.uint64]


def mask(places: list[int]) -> np.uint64:
    """Bit k − 1 for place k."""
    return np.uint64(sum(1 << place - 1 for place in places))


def plain_values(form: Form, x: Points) -> NDArray[np.int64]:
    """S_d at points whose bits are the places with sign −1."""
    differing = (x ^ x >> np.uint64(form.difference)) & mask([i for i, _ in form.pairs])
    return len(form.pairs) - 2 * np.bitwise_count(differing).astype(np.int64)


def linear_values(form: Form, x: Points) -> NDArray[np.int64]:
    """ℓ_d at the points."""
    negative = mask([place for place, sign in form.signs.items() if sign < 0])
    opposite = (x ^ negative) & mask(list(form.signs))
    return len(form.signs) - 2 * np.bitwise_count(opposite).astype(np.int64)


def shifted_values(form: Form, x: Points, plain: NDArray[np.int64]) -> NDArray[np.int64]:
    """f_d at the points, where S_d is ``plain``."""
    return plain + linear_values(form, x) + form.constant


def alive(forms: Forms, x: Points) -> dict[str, NDArray[np.bool_]]:
    """Which points have no vanishing factor, for each kind of factors."""
    kept = {kind: np.ones(len(x), np.bool_) for kind in KINDS}
    for form in forms.all:
        plain = plain_values(form, x)
        shifted = shifted_values(form, x, plain) != 0
        kept["plain"] &= plain != 0
        kept["c"] &= plain + len(form.pairs) % 2 != 0
        kept["ℓ and c"] &= shifted
        kept["odd d" if form.difference % 2 else "even d"] &= shifted
    return kept


def chunks_of_points(n: int, chunks: int) -> Iterator[Points]:
    """The sample of each n."""
    random = np.random.default_rng(POINT_SEED)
    for _ in range(chunks):
        yield random.integers(0, 2 ** (2 * n) - 1, CHUNK, np.uint64, endpoint=True)


def print_shares(sizes: Sequence[int], chunks: int, seed: int) -> None:
    """The table of the points that survive."""
    table = Table("n", "points", *KINDS)
    for n in sizes:
        forms, points = Forms(Problem.langford(n), seed), chunks * CHUNK
        kept = dict.fromkeys(KINDS, 0)
        for x in chunks_of_points(n, chunks):
            for kind, living in alive(forms, x).items():
                kept[kind] += int(np.count_nonzero(living))
        shares = [kept[kind] / points for kind in KINDS]
        errors = [sqrt(share * (1 - share) / points) for share in shares]
        cells = (f"{share:.5f} ± {error:.5f}" for share, error in zip(shares, errors, strict=True))
        table.row(n, f"{points:,}", *cells)


def print_factors(sizes: Sequence[int], chunks: int, seed: int) -> None:
    """The table of single factors and of products."""
    table = Table("n", "points", "a factor vanishes at", "bits of a product")
    for n in sizes:
        forms = Forms(Problem.langford(n), seed).all
        vanish, bits = np.zeros(len(forms)), []
        for x in chunks_of_points(n, chunks):
            values = np.array([shifted_values(form, x, plain_values(form, x)) for form in forms])
            vanish += np.count_nonzero(values == 0, axis=1)
            living = values[:, (values != 0).all(axis=0)]
            bits.append(np.log2(np.abs(living) / 4).sum(axis=0))
        shares, sizes_of_products = vanish / (chunks * CHUNK), np.concatenate(bits)
        spread = f"{sizes_of_products.mean():.1f} ± {sizes_of_products.std():.1f}"
        table.row(n, f"{chunks * CHUNK:,}", f"{100 * shares.min():.1f} to {100 * shares.max():.1f}%", spread)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n", type=int, nargs="*", default=SIZES)
    parser.add_argument("--points", type=float, default=POINTS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--factors", action="store_true")
    options = parser.parse_args()
    print_table = print_factors if options.factors else print_shares
    print_table(options.n, max(1, round(options.points / CHUNK)), options.seed)


if __name__ == "__main__":
    main()
