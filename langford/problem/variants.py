"""The named variants, one line each.  Only this module knows how they differ.

The words are those of the Handbook of Combinatorial Designs, chapter VI.53; ``docs/families.md`` says where each
exists, and draws one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from langford.errors import BadProblem, whole
from langford.extensions import Registry

DIFFERENCES = "differences"
"""The :attr:`Problem.variant` of a set of differences that belongs to no named variant."""
CYCLIC = "cyclic"
"""How the command line and names of problems call such a set on a circle."""
SETS = (DIFFERENCES, CYCLIC)
"""What a set of differences without a named family begins with."""
COPIES, FOLD, HOLES, OVER, EMPTY = "copies", "fold", "holes", "over", "empty"
"""What may follow any family, or a set of differences."""
SIZES = {COPIES: 2, FOLD: 1, HOLES: 0}
"""The first three, and their values where they are left out."""


@dataclass(frozen=True)
class Parameter:
    """A whole number, besides n, that a variant depends on."""

    name: str  # the word before its value, also in names of problems; letters and dashes
    words: str  # how a problem is called in words, with ``{}`` for the value
    least: int  # the smallest value
    most: Callable[[int], int] | None = None  # the largest value for an n; None: any that fits into a row
    default: int | None = None  # the value that may be left out; None: it has to be given

    @property
    def keyword(self) -> str:
        return self.name.replace("-", "_")

    def value(self, variant: str, n: int, given: int | None) -> int:
        """The value that was given for n, or the default; raises BadProblem."""
        most = None if self.most is None else self.most(n)
        words = f"{self.least} or more" if most is None else f"from {self.least} to {most}"
        given = self.default if given is None else given
        if given is None:
            raise BadProblem(
                f"{variant} {n} needs {self.name}: write {variant} {n} {self.name} {self.least}, or another number "
                f"{words} (`langford table {variant} {n}` counts all)"
            )
        value = whole(self.name, given, BadProblem)
        if value < self.least or (most is not None and value > most):
            raise BadProblem(f"{self.name} of {variant} {n} is a number {words}, not {value}")
        return value


DEFECT = Parameter("defect", "of defect {}", 2, default=2)
HOLE = Parameter("hole", "with hole {}", 1, lambda n: 2 * n + 1)
SECOND_HOLE = Parameter("second-hole", "and {}", 2, lambda n: 2 * n + 2)
MISSING = Parameter("missing", "without {}", 1, lambda n: n)


def _up_to(n: int, **values: int) -> Iterable[int]:
    return range(1, n + 1)


def _but_one(n: int, missing: int) -> Iterable[int]:
    return (d for d in range(1, n + 1) if d != missing)


def _from_defect(n: int, defect: int, **values: int) -> Iterable[int]:
    return range(defect, defect + n)


def _none(n: int, **values: int) -> Iterable[int]:
    return ()


@dataclass(frozen=True)
class Variant:
    """How a variant follows from n and its parameters."""

    name: str  # as the command line and the ledger write it; letters and dashes
    title: str  # as a person writes it, before "(copies,n)"
    # The differences, ascending, from n and the parameters by name (``second_hole``)
    differences: Callable[..., Iterable[int]] = _up_to
    # The places that stay empty, ascending, from the same; the row has no others beside the filled ones
    empty: Callable[..., Iterable[int]] = _none
    parameters: tuple[Parameter, ...] = ()  # in the order of names of problems
    least: int = 1  # the smallest n
    fewer: int = 0  # how many colours less than n there are
    pairs_only: bool = True  # whether it is defined for two copies of each colour only
    label_offset: int = 0  # the customary name of a colour is its difference less this
    circle: bool = False  # whether the row is a circle
    # What else its arrangements have to be, completing "arrangements that are …": "planar".  Only methods with this
    # condition count them, and none of their images is taken for another one
    condition: str = ""
    loose: int = 0  # how many more places stay empty, wherever they are
    meaning: str = ""  # differences and places; N is the order, K and L are the values of its parameters

    def require_known(self, given: Mapping[str, object]) -> None:
        """Raises BadProblem where a value is given for another parameter, by its name in Python."""
        known = {parameter.keyword for parameter in self.parameters}
        for name, value in given.items():
            if value is not None and name not in known:
                takes = ", ".join(parameter.name for parameter in self.parameters) or "no parameter"
                raise BadProblem(f"{self.name} takes {takes}: leave {name.replace('_', '-')} out")

    def has(self, n: int, values: Mapping[str, int]) -> bool:
        """Whether there is a member of order n: two empty places are different ones, and the first comes first."""
        empty = tuple(self.empty(n, **values))
        return all(hole < following for hole, following in pairwise(empty))

    def values(self, n: int, given: Mapping[str, int | None]) -> dict[str, int]:
        """By their names in Python, as ``given``, where None is not given; raises BadProblem."""
        self.require_known(given)
        return {each.keyword: each.value(self.name, n, given.get(each.keyword)) for each in self.parameters}


_OURS = {
    variant.name: variant
    for variant in (
        Variant(
            "langford", "L", _from_defect, parameters=(DEFECT,),
            pairs_only=False, label_offset=1, meaning="differences 2 … N + 1, or K … K + N − 1; 2N places",
        ),
        Variant("skolem", "Skolem", pairs_only=False, meaning="differences 1 … N; 2N places"),
        Variant(
            "hooked-langford", "hooked Langford", _from_defect,
            lambda n, defect: [2 * n], (DEFECT,), label_offset=1,
            meaning="differences 2 … N + 1, or K … K + N − 1; 2N + 1 places, 2N empty",
        ),
        Variant(
            "extended-langford", "extended Langford", _from_defect,
            lambda n, defect, hole: [hole], (DEFECT, HOLE), label_offset=1,
            meaning="differences 2 … N + 1, or K … K + N − 1; 2N + 1 places, L empty",
        ),
        Variant(
            "hooked-skolem", "hooked Skolem", empty=lambda n: [2 * n],
            meaning="differences 1 … N; 2N + 1 places, 2N empty",
        ),
        Variant(
            "extended-skolem", "extended Skolem", empty=lambda n, hole: [hole], parameters=(HOLE,),
            meaning="differences 1 … N; 2N + 1 places, K empty",
        ),
        Variant(
            "near-skolem", "near-Skolem", _but_one,
            parameters=(MISSING,), least=2, fewer=1, meaning="differences 1 … N without K; 2N − 2 places",
        ),
        Variant(
            "hooked-near-skolem", "hooked near-Skolem", _but_one,
            lambda n, missing: [2 * n - 2], (MISSING,), least=2, fewer=1,
            meaning="differences 1 … N without K; 2N − 1 places, 2N − 2 empty",
        ),
        Variant(
            "rosa", "Rosa", empty=lambda n: [n + 1], meaning="differences 1 … N; 2N + 1 places, N + 1 empty"
        ),
        Variant(
            "near-rosa", "near-Rosa", _but_one,
            lambda n, missing: [n], (MISSING,), least=2, fewer=1,
            meaning="differences 1 … N without K; 2N − 1 places, N empty",
        ),
        Variant(
            "hooked-rosa", "hooked Rosa", empty=lambda n: [n + 1, 2 * n + 1],
            meaning="differences 1 … N; 2N + 2 places, N + 1 and 2N + 1 empty",
        ),
        Variant(
            "extended-rosa", "extended Rosa", empty=lambda n, hole, second_hole: [hole, second_hole],
            parameters=(HOLE, SECOND_HOLE), meaning="differences 1 … N; 2N + 2 places, K and L empty",
        ),
        Variant(
            "starter", "starter", empty=lambda n: [1], circle=True,
            meaning="differences 1 … N on a circle of 2N + 1 places; 1 empty",
        ),
        Variant(
            "even-starter", "even starter", lambda n: range(1, n), lambda n: [1], least=2, fewer=1, circle=True,
            loose=1, meaning="differences 1 … N − 1 on a circle of 2N places; 1 and another one empty",
        ),
        Variant(
            "near-starter", "near starter", _but_one,
            lambda n, missing: [1], (MISSING,), least=2, fewer=1, circle=True, loose=1,
            meaning="differences 1 … N without K on a circle of 2N places; 1 and another one empty",
        ),
        Variant(
            "cyclic-skolem", "cyclic Skolem", circle=True, meaning="differences 1 … N on a circle of 2N places"
        ),
    )
}  # fmt: skip
VARIANTS: Registry[Variant] = Registry(
    "langford.families",
    Variant,
    _OURS,
    {*SETS, *SIZES, OVER, EMPTY, *(each.name for variant in _OURS.values() for each in variant.parameters)},
)
"""By name; those of other installed programs come last, and cannot take other words of a problem."""
