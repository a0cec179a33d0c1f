"""The named variants, one line each.  Only this module knows how they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

DIFFERENCES = "differences"
"""The :attr:`Problem.variant` of a set of differences that belongs to no named variant."""


@dataclass(frozen=True)
class Variant:
    """How a variant with n colours follows from n.

    Attributes:
        name: as the command line and the ledger write it; letters and dashes.
        title: as a person writes it, before "(copies,n)".
        first: the smallest difference; the others follow without a gap.
        hooked: whether the row has one place more and the second to last stays empty (pairs only).
        oeis: number of the published sequence, by copies.
    """

    name: str
    title: str
    first: int
    hooked: bool = False
    oeis: Mapping[int, str] = field(default_factory=dict)


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("langford", "L", 2, oeis={2: "A014552", 3: "A059107"}),
        Variant("skolem", "Skolem", 1, oeis={2: "A059106", 3: "A059108"}),
        Variant("hooked-langford", "hooked Langford", 2, hooked=True),
        Variant("hooked-skolem", "hooked Skolem", 1, hooked=True, oeis={2: "A004076"}),
    )
}
