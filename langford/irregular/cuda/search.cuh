// What searches breadth first share, on a whole graph and on a block of one.
//
// Defined by the loader: VERTEX, OFFSET.
#include "barrier.cuh"

typedef const VERTEX *Rows;
constexpr u32 WARP = 0xFFFFFFFFu;
// Edges that a lane takes at a time: so many loads are under way.
constexpr int AT_ONCE = 4;
// Edges of one vertex that a warp takes alone; those of a vertex with more are shared out in chunks of as many.
constexpr int CHUNK = 256;
// Words of the bitmaps whose vertices a warp looks up together: so many loads are under way at a time.
constexpr int WORDS = 2;
// A level goes from below above this share of the edges, and back below that of the vertices, as on one core.
constexpr int EDGES_SHARE = 15, VERTICES_SHARE = 18;
// Levels that are recorded.
constexpr i64 MOST_LEVELS = 4096;

// What a level counts: vertices found and the edges that leave them, edges looked at, chunks.
struct Counts { u64 found, ahead, inspected, chunks; };

__device__ inline bool is_set(const u32 *bits, VERTEX vertex) { return bits[vertex >> 5] >> (vertex & 31) & 1; }

// The sum over a warp, in its first lane at least.
__device__ inline u64 warp_sum(u64 value) {
    for (int distance = 16; distance; distance /= 2) value += __shfl_xor_sync(WARP, i64(value), distance);
    return value;
}

// *sum += the parts of all lanes.
__device__ inline void add_up(u64 *sum, u64 part) {
    part = warp_sum(part);
    if (threadIdx.x % 32 == 0 && part) atomicAdd(sum, part);
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

// Chunks of long rows, which all warps share out among themselves: the vertex, and its first edge there.
struct Chunks {
    VERTEX *vertex;
    OFFSET *edge;
};

// A warp takes the edges first … last − 1 of a vertex.  take(vertex, edge, last, step) takes those at the places edge,
// edge + step, … of a lane that are below `last`, AT_ONCE at most; all lanes of a warp call it together.
template <class Take> __device__ inline void take_row(VERTEX vertex, OFFSET first, OFFSET last, Take take) {
    for (; first < last; first += 32 * AT_ONCE) take(vertex, first + threadIdx.x % 32, last, 32);
}

// From above: takes the edges of the vertices queue[begin:end], and leaves those of long rows over in chunks.  A warp
// has up to 32 vertices at a time, fewer where that leaves others without any.
template <class Take>
__device__ void expand(const VERTEX *queue, u64 begin, u64 end, const OFFSET *indptr, Chunks chunks, Counts *counts,
                       Take take) {
    const int lane = threadIdx.x % 32;
    const u64 warps = all_threads() / 32, share = (end - begin) / warps, span = share < 1 ? 1 : share < 32 ? share : 32;
    for (u64 base = begin + this_thread() / 32 * span; base < end; base += warps * span) {
        VERTEX vertex = 0;
        OFFSET edge = 0, last = 0;
        if (u64(lane) < span && base + lane < end) {
            vertex = queue[base + lane];
            edge = indptr[vertex];
            last = indptr[vertex + 1];
        }
        const bool large = last - edge > CHUNK;
        if (__any_sync(WARP, large)) {
            u64 place = reserve(&counts->chunks, large ? (last - edge + CHUNK - 1) / CHUNK : 0, lane);
            for (; large && edge < last; edge += CHUNK, place++) {
                chunks.vertex[place] = vertex;
                chunks.edge[place] = edge;
            }
            if (large) edge = last;
        }
        // All lanes together take rows that one of them would take longer for than a warp for all of them.
        const bool longer = last - edge > AT_ONCE && u64(last - edge) >= span;
        for (u32 many = __ballot_sync(WARP, longer); many; many &= many - 1) {
            const int owner = __popc((many & -many) - 1);
            take_row(VERTEX(__shfl_sync(WARP, i64(vertex), owner)), OFFSET(__shfl_sync(WARP, i64(edge), owner)),
                     OFFSET(__shfl_sync(WARP, i64(last), owner)), take);
        }
        if (longer) edge = last;
        for (; __any_sync(WARP, edge < last); edge += AT_ONCE) take(vertex, edge, last, 1);
    }
}

// The same for the chunks that it left over.
template <class Take>
__device__ void expand_chunks(u64 count, const OFFSET *indptr, Chunks chunks, Take take) {
    for (u64 at = this_thread() / 32; at < count; at += all_threads() / 32) {
        const VERTEX vertex = chunks.vertex[at];
        const OFFSET first = chunks.edge[at], last = indptr[vertex + 1];
        take_row(vertex, first, last - first > CHUNK ? first + CHUNK : last, take);
    }
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
    add_up(&counts->found, found);
    add_up(&counts->inspected, inspected);
}
