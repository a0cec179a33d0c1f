// Miller's backtracking on the GPU, one sub-task per lane at a time.
//
// A lane places the next LEVELS colours in the order of the search, then fills the row by position: the
// first free place is covered by one of the colours left.  Rows are turned such that this place is the
// top bit: the differences that fit there are the top word of the row, masked by the colours left.  One
// turn of the main loop visits one node in every lane, each on a level of its own; lanes that have
// finished a row get the next one when WAITING of their warp wait.
//
// Defined by the loader, besides search.cuh's: UNUSED (the colours left: bit WORD_BITS − 1 − d is set for the
// difference d), WORD_BITS (32 or 64), FILL_LEVELS (colours left, less two), WAITING.

#include "integers.cuh"
#include "search.cuh"

#if WORD_BITS == 32
typedef u32 Word;
#else
typedef u64 Word;
#endif
constexpr Word TOP = Word(1) << (WORD_BITS - 1);

// What a lane returns to: a row whose first free place has untried colours.
struct alignas(16) Branch {
    Row row;
    Word unused, fitting;
};
struct Shared {
    Branch stack[FILL_LEVELS > 0 ? FILL_LEVELS : 1][THREADS];
};

SHARED_MEMORY(Shared);

// The stack of a lane: where its next branch goes, as an address in shared memory that stays in a register
// (from a pointer the compiler would work it out again at each access).
#ifdef LANGFORD_HOST
typedef unsigned long Address;
__device__ inline Address address_of(Branch *branch) { return Address(branch); }
__device__ inline Branch &branch_at(Address address) { return *reinterpret_cast<Branch *>(address); }
#else
typedef u32 Address;
__device__ inline Address address_of(Branch *branch) {
    u32 address = u32(__cvta_generic_to_shared(branch));
    asm volatile("" : "+r"(address));
    return address;
}
__device__ inline Branch &branch_at(Address address) {
    return *static_cast<Branch *>(__cvta_shared_to_generic(address));
}
#endif
constexpr int STRIDE = THREADS * sizeof(Branch);

__device__ inline Word top(Row row) { return Word(row >> (ROW_BITS - WORD_BITS)); }

// The row, which is not empty, from its first free place on.
__device__ inline Row from_first_free(Row row) {
    if (ROW_BITS == 64 && WORD_BITS == 32) {
        // Two shifts of words are cheaper than one of 64 bits.
        u32 high = u32(row >> 32), low = u32(row);
        if (!high) {
            high = low;
            low = 0;
        }
        const int shift = leading_zeros(high);
        return Row(__funnelshift_l(low, high, shift)) << 32 | low << shift;
    }
    return row << leading_zeros(row);
}

// The cubes of the colour whose difference is the only bit of `word`, the first one on the top bit.
__device__ inline Row cubes_of(Word word) {
    if (COPIES == 2) return Row(TOP | word) << (ROW_BITS - WORD_BITS);
    const int difference = leading_zeros(word);
    Row cubes = Row(1) << (ROW_BITS - 1);
#pragma unroll
    for (int copy = 1; copy < COPIES; copy++) cubes |= Row(1) << (ROW_BITS - 1) >> copy * difference;
    return cubes;
}

// Counts the arrangements below sub-tasks [count]; next [1] is 0 before; see deliver for totals.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, MIN_BLOCKS)
miller(const Row *subtasks, int count, u32 *next, i64 *totals) {
    Shared &shared = *reinterpret_cast<Shared *>(shared_memory);
    const Address bottom = address_of(&shared.stack[0][threadIdx.x]);
    Address stack = bottom;
    Walk walk = {};
    Supply supply = {int(blockIdx.x * THREADS + threadIdx.x), false};
    u64 found = 0, again = 0, nodes = 0;
    u32 ways = 0, steps = 0;   // of the row being filled
    Branch at = {};
    u32 done = 0;   // lanes for which nothing is left
    while (true) {
        const bool busy = at.fitting != 0;
        const u32 busy_lanes = __ballot_sync(~0u, busy), waiting = ~(busy_lanes | done);
        if (!busy_lanes && !waiting) break;
        if (!busy_lanes || __popc(waiting) >= WAITING) {
            found += ways;
            again += ways;
            nodes += steps;
            ways = steps = 0;
            Row leaf = 0;
            const bool fed = supply_leaf(!busy, walk, supply, subtasks, count, next, leaf, nodes);
            if (fed) {
                const Row row = from_first_free(reversed(leaf));
                at = {row, UNUSED, top(row) & UNUSED};
                if (FILL_LEVELS < 0) {   // one colour left
                    ways += row == cubes_of(UNUSED);
                    steps++;
                    at.fitting = 0;
                }
            }
            done = ~(busy_lanes | __ballot_sync(~0u, fed));
        }
        if (at.fitting) {
            const Word chosen = at.fitting & (~at.fitting + 1);
            at.fitting ^= chosen;
            const Row cubes = cubes_of(chosen);
            if (COPIES == 2 || (at.row & cubes) == cubes) {
                steps++;
                const Row rest = from_first_free(at.row ^ cubes);
                const Word left = at.unused ^ chosen;
                const bool last = (left & (left - 1)) == 0;
                ways += last && rest == cubes_of(left);
                const Word fitting = last ? 0 : top(rest) & left;
                if (fitting) {
                    if (at.fitting) {
                        branch_at(stack) = at;
                        stack += STRIDE;
                    }
                    at = {rest, left, fitting};
                }
            }
            if (!at.fitting && stack != bottom) {
                stack -= STRIDE;
                at = branch_at(stack);
            }
        }
    }
    deliver(found, again, nodes, totals);
}
