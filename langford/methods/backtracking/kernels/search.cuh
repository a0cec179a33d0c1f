// What the backtracking kernels share: rows of places, sub-tasks for the lanes, and the placements of
// the first colours below a sub-task.
//
// Defined by the loader: PLACES, COPIES, LEVELS (colours that a thread places in the order of the search
// before the leaf that the kernel evaluates) and LEVEL_DIFFERENCES, PERSISTENT (1: lanes take the next
// sub-task, 0: each has its own share), THREADS, MIN_BLOCKS.
#include "integers.cuh"

// Bit k is set where place k + 1 is free.
#if PLACES > 64
typedef unsigned __int128 Row;
#else
typedef u64 Row;
#endif
constexpr int ROW_BITS = 8 * sizeof(Row), START_BITS = ROW_BITS == 64 ? 6 : 7;

__device__ constexpr int level_difference[LEVELS + 1] = {LEVEL_DIFFERENCES};

__device__ inline int lowest_bit(u64 row) { return __ffsll(i64(row)) - 1; }
__device__ inline int leading_zeros(u32 word) { return __clz(int(word)); }
__device__ inline int leading_zeros(u64 word) { return __clzll(i64(word)); }
__device__ inline u64 reversed(u64 row) { return __brevll(row); }
#if PLACES > 64
__device__ inline int lowest_bit(Row row) { return u64(row) ? lowest_bit(u64(row)) : 64 + lowest_bit(u64(row >> 64)); }
__device__ inline int leading_zeros(Row row) {
    return u64(row >> 64) ? leading_zeros(u64(row >> 64)) : 64 + leading_zeros(u64(row));
}
__device__ inline Row reversed(Row row) { return Row(reversed(u64(row))) << 64 | reversed(u64(row >> 64)); }
#endif

// The cubes of a colour with the first one on bit 0.
__device__ inline Row shape_of(int difference) {
    Row shape = 1;
#pragma unroll
    for (int copy = 1; copy < COPIES; copy++) shape |= Row(1) << copy * difference;
    return shape;
}

// Bit k set where a colour fits with its first cube on bit k.
__device__ inline Row starts(Row free, int difference) {
    Row fits = free;
#pragma unroll
    for (int copy = 1; copy < COPIES; copy++) fits &= free >> copy * difference;
    return fits;
}

// The placements of LEVELS colours below a sub-task, depth first.  The stack is the starts chosen, a few
// bits each: what was free before is found by taking the colour off again.
struct Walk {
    Row free, fits;
#if LEVELS * (PLACES > 64 ? 7 : 6) > 64
    unsigned __int128 chosen;
#else
    u64 chosen;
#endif
    int depth;
};

__device__ inline void begin(Walk &walk, Row free) {
    walk = {free, LEVELS ? starts(free, level_difference[0]) : Row(1), 0, 0};
}

// Goes on to the next leaf: the places free with all LEVELS colours placed; false when there is none left.
__device__ inline bool next_leaf(Walk &walk, Row &leaf, u64 &nodes) {
    if (LEVELS == 0) {
        leaf = walk.free;
        const bool first = walk.fits != 0;
        walk.fits = 0;
        return first;
    }
    while (true) {
        if (walk.fits) {
            const int start = lowest_bit(walk.fits);
            walk.fits &= walk.fits - 1;
            nodes++;
            const Row child = walk.free ^ shape_of(level_difference[walk.depth]) << start;
            if (walk.depth == LEVELS - 1) {
                leaf = child;
                return true;
            }
            walk.chosen = walk.chosen << START_BITS | start;
            walk.free = child;
            walk.depth++;
            walk.fits = starts(child, level_difference[walk.depth]);
        } else {
            if (walk.depth == 0) return false;
            walk.depth--;
            const int start = int(walk.chosen) & ((1 << START_BITS) - 1), difference = level_difference[walk.depth];
            walk.chosen >>= START_BITS;
            walk.free ^= shape_of(difference) << start;
            walk.fits = starts(walk.free, difference) & ~Row(1) << start;
        }
    }
}

// Hands sub-tasks to the lanes of a warp, all of which call `take` together.
struct Supply {
    int own;
    bool empty;

    // Whether this lane, if it is hungry, got a sub-task, and which.
    __device__ inline bool take(bool hungry, int count, u32 *next, int &index) {
        if (PERSISTENT) {
            if (empty) return false;
            const u32 lanes = __ballot_sync(~0u, hungry), lane = threadIdx.x % 32;
            int first = 0;
            if (lane == 0) first = int(atomicAdd(next, u32(__popc(lanes))));
            first = int(__shfl_sync(~0u, u32(first), 0));
            // Asked no more once it is empty, the counter does not run over.
            empty = first >= count;
            index = first + __popc(lanes & ((1u << lane) - 1));
            return hungry && index < count;
        }
        if (!hungry || own >= count) return false;
        index = own;
        own += gridDim.x * THREADS;
        return true;
    }
};

// The next leaf for each lane that wants one, from its own walk or from the next sub-tasks; all lanes of a
// warp call it together.  False for the lanes that remain without one: there is nothing left for them.
__device__ inline bool supply_leaf(bool wanted, Walk &walk, Supply &supply, const Row *subtasks, int count, u32 *next,
                                   Row &leaf, u64 &nodes) {
    bool hungry = wanted && !next_leaf(walk, leaf, nodes);
    while (__ballot_sync(~0u, hungry)) {
        int index;
        const bool fed = supply.take(hungry, count, next, index);
        if (!__ballot_sync(~0u, fed)) break;
        if (fed) {
            begin(walk, subtasks[index]);
            hungry = !next_leaf(walk, leaf, nodes);
        }
    }
    return wanted && !hungry;
}

// Adds a lane's results to totals [3]: arrangements, the same added up a second time, nodes.
__device__ inline void deliver(u64 found, u64 again, u64 nodes, i64 *totals) {
    const i64 own[3] = {i64(found), i64(again), i64(nodes)};
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const i64 sum = over_warp(own[k]);
        if (threadIdx.x % 32 == 0) atomicAdd((u64 *)totals + k, u64(sum));
    }
}
