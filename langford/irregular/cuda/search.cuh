// What searches breadth first share, on a whole graph and on a block of one.
//
// Defined by the loader: VERTEX, OFFSET.
#include "arrays.cuh"

typedef const VERTEX *Rows;
constexpr u32 WARP = 0xFFFFFFFFu;
// Edges of one vertex that a warp takes alone; those of a vertex with more are shared out in chunks of as many.
constexpr int CHUNK = 1024;
// Words of the bitmaps whose vertices a warp looks up together: so many loads are under way at a time.
constexpr int WORDS = 4;
// A level goes from below above this share of the edges, and back below that of the vertices, as on one core.
constexpr int EDGES_SHARE = 15, VERTICES_SHARE = 18;
// Levels that are recorded.
constexpr i64 MOST_LEVELS = 4096;

// What a level counts: vertices found and the edges that leave them, edges looked at, chunks.
struct Counts { u64 found, ahead, inspected, chunks; };

__device__ inline bool is_set(const u32 *bits, VERTEX vertex) { return bits[vertex >> 5] >> (vertex & 31) & 1; }

// Returns when all blocks have come; `gate` holds two zeros at the start.
__device__ inline void wait_for_all(u32 *gate) {
    __syncthreads();
#ifndef LANGFORD_HOST
    if (threadIdx.x == 0) {
        volatile u32 *round = gate + 1;
        __threadfence();
        const u32 now = *round;
        if (atomicAdd(gate, 1u) == gridDim.x - 1) {
            *gate = 0;
            __threadfence();
            *round = now + 1;
        } else {
            while (*round == now) {}
        }
        __threadfence();
    }
    __syncthreads();
#endif
}

// The sum over a warp, in its first lane at least.
__device__ inline u64 warp_sum(u64 value) {
    for (int distance = 16; distance; distance /= 2) value += __shfl_xor_sync(WARP, i64(value), distance);
    return value;
}

// The sum of this and all lower lanes.
__device__ inline u32 sum_up_to(u32 value, int lane) {
    for (int distance = 1; distance < 32; distance *= 2) {
        const u32 other = __shfl_sync(WARP, i64(value), lane < distance ? lane : lane - distance);
        if (lane >= distance) value += other;
    }
    return value;
}

// A warp reserves places in a list: the first of this lane, which needs `count`.
__device__ inline u64 reserve(u64 *used, u32 count, int lane) {
    const u32 end = sum_up_to(count, lane);
    u64 first = 0;
    if (lane == 31 && end) first = atomicAdd(used, u64(end));
    return __shfl_sync(WARP, i64(first), 31) + end - count;
}

// From below: each vertex that is not visited looks for a parent in the bitmap of the frontier; `following` is the
// next one, and `label` names a parent.  A warp takes up to 32 words of the bitmaps at a time, fewer where that
// leaves others without any.
template <class Label>
__device__ void look_from_below(const OFFSET *indptr, Rows indices, i64 n, const u32 *front, u32 *following,
                                u32 *visited, VERTEX *parent, Label label, Counts *counts) {
    const int lane = threadIdx.x % 32;
    const i64 words = (n + 31) / 32, warps = all_threads() / 32;
    const i64 span = words / warps < WORDS ? WORDS : words / warps < 32 ? words / warps : 32;
    u64 inspected = 0, found = 0;
    for (i64 base = this_thread() / 32 * span; base < words; base += warps * span) {
        const bool mine = lane < span && base + lane < words;
        const u32 seen = mine ? visited[base + lane] : WARP;
        u32 next = 0;
        for (u32 open = __ballot_sync(WARP, seen != WARP); open;) {
            int word[WORDS];
            VERTEX vertex[WORDS];
            OFFSET edge[WORDS], last[WORDS];
            VERTEX source[WORDS];
            bool reached[WORDS];
#pragma unroll
            for (int k = 0; k < WORDS; k++) {
                word[k] = open ? __popc((open & -open) - 1) : -1;
                open &= open - 1;
                const u32 known = word[k] < 0 ? WARP : u32(__shfl_sync(WARP, i64(seen), word[k]));
                vertex[k] = VERTEX((base + word[k]) * 32 + lane);
                const bool waits = !(known >> lane & 1);
                edge[k] = waits ? indptr[vertex[k]] : 0;
                last[k] = waits ? indptr[vertex[k] + 1] : 0;
            }
#pragma unroll
            for (int k = 0; k < WORDS; k++) source[k] = edge[k] < last[k] ? indices[edge[k]] : -1;
#pragma unroll
            for (int k = 0; k < WORDS; k++) reached[k] = source[k] >= 0 && is_set(front, source[k]);
#pragma unroll
            for (int k = 0; k < WORDS; k++) {
                const OFFSET first = edge[k];
                while (!reached[k] && edge[k] < last[k] && ++edge[k] < last[k]) {
                    source[k] = indices[edge[k]];
                    reached[k] = is_set(front, source[k]);
                }
                inspected += edge[k] - first + reached[k];
                if (reached[k]) parent[vertex[k]] = label(source[k]);
                const u32 votes = __ballot_sync(WARP, reached[k]);
                if (lane == word[k]) next = votes;
            }
        }
        if (mine) {
            following[base + lane] = next;
            if (next) visited[base + lane] = seen | next;
        }
        found += __popc(next);
    }
    found = warp_sum(found);
    inspected = warp_sum(inspected);
    if (lane == 0 && found) atomicAdd(&counts->found, found);
    if (lane == 0 && inspected) atomicAdd(&counts->inspected, inspected);
}
