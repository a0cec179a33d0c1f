"""What the GPU kernel of the shifted sum is compiled for: numbers of the problem, and settings."""

from __future__ import annotations

from dataclasses import dataclass

from langford.kernels.cuda.source import Definitions
from langford.methods.shifted.plan import ShiftedPlan
from langford.methods.shifted.shape import Shape

IMAGES = 4
"""Pairs done together: u and v as they are and backwards."""
INNER_BITS, LOW_BITS = 8, 5
"""Lowest bits of a packed v that tell the points of a row apart, and the next ones (shifted_forms.cuh)."""
MANY_ELEMENTS = 58
"""Beyond it the shared memory of two blocks has no room for longer windows, and neighbouring u's share less."""


@dataclass(frozen=True)
class Settings:
    """What measurements choose (benchmarks/shifted.md); no result depends on it.

    Attributes:
        tile_bits: a tile has 2^tile_bits v's, or fewer where a task has fewer.
        windows: inner sums of an odd form that have a row, by place in its group, of as many places as a group has
            at most.
        joints: pairs of even forms whose dead v's are read for every u, fewer where there are few; the union of
            those of the others is kept from u to u.
        even_window: values of an even form that have a row.
        run: u's that a block takes at once.
        threads: per block.
        min_blocks: blocks per multiprocessor that the compiler leaves registers for.
        u_block_bits: 2^u_block_bits u's of each prefix are put in order together.
    """

    tile_bits: int = 20
    windows: tuple[int, ...] = (4, 4, 3)
    joints: int = 3
    even_window: int = 7
    run: int = 16
    threads: int = 256
    min_blocks: int = 2
    u_block_bits: int = 25


@dataclass(frozen=True)
class GpuShape:
    """The sizes that the kernel has compiled in.

    Attributes:
        forms, evens: odd and even forms; without an odd one, one that is always a factor of 1.
        odd_words, even_words: words of 32 bits that hold a byte for each of them.
        reach: no half of an even form exceeds it.
        images: IMAGES, or 1.
        tile_bits: v's that a tile has room for, as a power of two.
        joints: as in Settings.
        sizes: places of each group of odd forms.
        windows: the window of each place, by group.
    """

    forms: int
    evens: int
    odd_words: int
    even_words: int
    reach: int
    images: int
    tile_bits: int
    joints: int
    sizes: list[int]
    windows: list[int]

    @classmethod
    def of(cls, plan: ShiftedPlan, settings: Settings) -> GpuShape:
        """The sizes for a plan."""
        forms, evens = max(1, len(plan.forms.odd)), len(plan.forms.even)
        free = len(plan.components.v) - plan.prefix_bits
        groups = -(-forms // len(settings.windows))
        sizes = [forms // groups + (group < forms % groups) for group in range(groups)]
        symmetric = plan.components.reversible and plan.prefix_bits % 2 == 0
        return cls(
            forms,
            evens,
            4 if forms <= 16 else 8,
            4 if evens <= 16 else 8,
            Shape.of(plan.problem).reach,
            IMAGES if symmetric else 1,
            max(INNER_BITS + LOW_BITS, min(settings.tile_bits, free)),
            min(settings.joints, max(0, (evens - 1) // 2)),
            sizes,
            [window for size in sizes for window in settings.windows[:size]],
        )

    @property
    def even_pairs(self) -> int:
        """Joint tables of even forms."""
        return max(1, -(-self.evens // 2))

    def definitions(self, settings: Settings) -> Definitions:
        """Compile-time parameters of ``shifted.cu``."""
        return {
            "FORMS": self.forms,
            "EVENS": self.evens,
            "ODD_WORDS": self.odd_words,
            "EVEN_WORDS": self.even_words,
            "REACH": self.reach,
            "IMAGES": self.images,
            "TILE_BITS": self.tile_bits,
            "GROUP_SIZES": self.sizes,
            "WINDOWS": self.windows,
            "BY_LENGTH": sorted(range(self.forms), key=lambda place: self.windows[place]),
            "JOINTS": self.joints,
            "EVEN_WINDOW": settings.even_window,
            "RUN": settings.run,
            "THREADS": settings.threads,
            "MIN_BLOCKS": settings.min_blocks,
        }


def settings_for(plan: ShiftedPlan) -> Settings:
    """The fastest settings known for a problem."""
    if len(plan.forms.odd) > 16:
        return Settings(windows=(3, 3, 3), min_blocks=1)
    if len(plan.problem.filled) > MANY_ELEMENTS:
        return Settings(windows=(4, 3, 3), joints=4)
    return Settings()
