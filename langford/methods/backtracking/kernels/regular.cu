// The regularised form of backtracking on the GPU (Loiseau's thesis, figure 1.4).
//
// A lane places the next LEVELS colours in the order of the search, then forms every assignment of the
// last TEST_FREE colours without a test in between: all lanes of a warp do the same.  At the leaf one test asks
// whether what is left is the last colour.  Cubes are taken off by exclusive or: the remainder has the few
// bits of one colour only if no two placements met and none left the row's free places.
//
// Defined by the loader, besides search.cuh's: TEST_FREE (2 … 6), OFFSETS (TEST_FREE: where the placements of each
// of its colours but the last begin and end), PLACEMENTS (two words of 64 bits each, low first), LAST (the last difference),
// ASSIGNMENTS (formed per row).

#include "integers.cuh"
#include "search.cuh"

__device__ constexpr int offset[TEST_FREE] = {OFFSETS};
constexpr int IN_ALL = offset[TEST_FREE - 1];
__constant__ u64 placement_words[2 * (IN_ALL ? IN_ALL : 1)] = {PLACEMENTS};

#ifndef LANGFORD_HOST
__device__ constexpr int shared_bytes = 0;
#endif

__device__ inline Row placement(int k) {
#if PLACES > 64
    return Row(placement_words[2 * k + 1]) << 64 | placement_words[2 * k];
#else
    return placement_words[2 * k];
#endif
}

// Assignments of the colours from number `colour` on that leave nothing of `rest`.
template <int colour> __device__ inline u32 assignments(Row rest) {
    if constexpr (colour == TEST_FREE - 1) {
        const Row lowest = rest & (~rest + 1);
        Row cubes = lowest;
#pragma unroll
        for (int copy = 1; copy < COPIES; copy++) cubes |= lowest << copy * LAST;
        return rest == cubes;
    } else {
        u32 ways = 0;
        constexpr int unrolled = colour == TEST_FREE - 2 ? 8 : 1;
#pragma unroll unrolled
        for (int k = offset[colour]; k < offset[colour + 1]; k++) ways += assignments<colour + 1>(rest ^ placement(k));
        return ways;
    }
}

// Counts the arrangements below sub-tasks [count]; next [1] is 0 before; see deliver for totals.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, MIN_BLOCKS)
regular(const Row *subtasks, int count, u32 *next, i64 *totals) {
    Walk walk = {};
    Supply supply = {int(blockIdx.x * THREADS + threadIdx.x), false};
    u64 found = 0, again = 0, nodes = 0;
    while (true) {
        Row leaf = 0;
        const bool fed = supply_leaf(true, walk, supply, subtasks, count, next, leaf, nodes);
        if (!__ballot_sync(~0u, fed)) break;
        const u32 ways = assignments<0>(leaf);
        if (fed) {
            found += ways;
            again += ways;
            nodes += ASSIGNMENTS;
        }
    }
    deliver(found, again, nodes, totals);
}
