"""The parameters with which the GPU kernel of the shifted sum is compiled: numbers of the problem, and settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

from langford.kernels.gpu.program import Definitions
from langford.methods.shifted.plan import ShiftedPlan

IMAGES = 4
"""Pairs done together: u and v as they are and backwards."""
INNER_BITS, LOW_BITS = 8, 5
"""Lowest bits of a packed v, which number the points of a row, and the next ones (kernels/forms.cuh)."""
ROW_BITS = 2
"""Bits of a row's number that a lane treats apart; without symmetry they are beyond the low ones."""
MAX_JOINED = 4
"""Even forms that share a joint row, where memory allows."""
MEMORY_SHARE = 4
"""The joint rows take at most this part of a GPU's memory, as a divisor."""


@dataclass(frozen=True)
class GpuSettings:
    """Settings that measurements choose (benchmarks/shifted.md); no result depends on them.

    Attributes:
        tile_bits: a tile has 2^tile_bits v's, or fewer where a task has fewer.
        windows: inner sums of an odd form that have a row, by place in its group, of as many places as a group has
            at most.
        joined: even forms that share a joint row, at most.
        even_window: values of an even form that have a row.
        threads: per block.
        min_blocks: blocks per multiprocessor that the compiler leaves registers for.
        u_block_bits: 2^u_block_bits u's of each prefix are put in order together.
    """

    tile_bits: int = 21
    windows: tuple[int, ...] = (4, 4, 3)
    joined: int = MAX_JOINED
    even_window: int = 7
    threads: int = 256
    min_blocks: int = 2
    u_block_bits: int = 25


@dataclass(frozen=True)
class GpuShape:
    """The sizes that the kernel has compiled in.

    Attributes:
        forms, evens: odd and even forms; without an odd one, one that is always a factor of 1.
        odd_words, even_words: words of 32 bits that hold a byte for each of them.
        reach: an upper bound of the half of an even form.
        images: IMAGES, or 1.
        tile_bits: v's that a tile has room for, as a power of two.
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
    sizes: list[int]
    windows: list[int]

    @classmethod
    def of(cls, plan: ShiftedPlan, settings: GpuSettings) -> GpuShape:
        forms, evens = max(1, len(plan.outline.odd)), len(plan.outline.even)
        free = len(plan.components.v) - plan.prefix_bits
        groups = -(-forms // len(settings.windows))
        sizes = [forms // groups + (group < forms % groups) for group in range(groups)]
        symmetric = plan.components.reversible and plan.prefix_bits % 2 == 0
        return cls(
            forms,
            evens,
            4 if forms <= 16 else 8,
            4 if evens <= 16 else 8,
            plan.shape.reach,
            IMAGES if symmetric else 1,
            max(INNER_BITS + LOW_BITS + (0 if symmetric else ROW_BITS), min(settings.tile_bits, free)),
            sizes,
            [window for size in sizes for window in settings.windows[:size]],
        )

    def joint_bytes(self, settings: GpuSettings) -> int:
        """Bytes of the joint rows of a tile's even forms."""
        return (self._joint_rows(settings) << self.tile_bits) // 8

    def _joint_rows(self, settings: GpuSettings) -> int:
        groups = max(1, -(-self.evens // settings.joined))
        sizes = [self.evens // groups + (group < self.evens % groups) for group in range(groups)]
        rows: int = sum((settings.even_window + 1) ** size for size in sizes)
        return rows

    def definitions(self, settings: GpuSettings) -> Definitions:
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
            "JOINED": settings.joined,
            "EVEN_WINDOW": settings.even_window,
            "THREADS": settings.threads,
            "MIN_BLOCKS": settings.min_blocks,
        }


def settings_for(plan: ShiftedPlan, memory: int = 2**40) -> GpuSettings:
    """The fastest known settings for a problem on a GPU with ``memory`` bytes of memory."""
    settings = GpuSettings(windows=(3, 3, 3), min_blocks=1) if len(plan.outline.odd) > 16 else GpuSettings()
    shape = GpuShape.of(plan, settings)
    for joined in range(MAX_JOINED, 0, -1):
        settings = replace(settings, joined=joined)
        if shape.joint_bytes(settings) * MEMORY_SHARE <= memory:
            break
    return settings
