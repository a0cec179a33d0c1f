"""The sequences of the OEIS that count problems, and the problem of each index, in words.

``reference.py`` has their published terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping


def _of(family: str, more: str = "") -> Callable[[int], str]:
    return lambda n: f"{family} {n}{more}"


IN_WORDS: Mapping[str, Callable[[int], str]] = {
    "A014552": _of("langford"),
    "A176127": _of("langford"),
    "A059106": _of("skolem"),
    "A004075": _of("skolem"),
    "A004076": _of("hooked-skolem"),
    "A004077": _of("extended-skolem"),
    "A059107": _of("langford", " copies 3"),
    "A059108": _of("skolem", " copies 3"),
    "A285527": _of("skolem", " copies 3"),
    "A284757": _of("skolem", " copies 4"),
    # The rows of defect d with as few differences as there can be, 2d − 1
    "A002047": lambda index: f"langford {2 * index + 1} defect {index + 1}" if index else "skolem 1",
    "A006204": _of("starter"),
    "A390360": lambda index: f"cyclic-skolem {4 * index + 1}",
    "A392247": lambda index: f"cyclic-skolem {4 * index}",
}
"""By the number of the sequence."""
SUMMED = {"A004077"}
"""Those whose terms are sums over the values of the parameter, which their words leave out."""
