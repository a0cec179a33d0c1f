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
// A level goes from below above this share of the edges, and back below that of the vertices, as on one core.
constexpr int EDGES_SHARE = 25, VERTICES_SHARE = 150;
// A level from above of more edges than this share of the vertices puts what it finds into a bitmap: most likely the
// next level goes from below, and a queue would have to become one.
constexpr int BITS_SHARE = 64;
// Levels that are recorded.
constexpr i64 MAX_LEVELS = 4096;

// Where a search is before a level: vertices of the frontier and of the one before, edges ahead, edges not yet looked
// at (less than none, perhaps: levels from below look at edges again), and whether the last level went from below.
struct Standing { u64 size, before, ahead; i64 unseen; bool below; };

// Whether the next level goes from below, in a graph of n vertices.
__device__ inline bool goes_below(const Standing &now, i64 n) {
    if (now.below) return now.size >= now.before || now.size >= u64(n / VERTICES_SHARE);
    return now.ahead > u64(now.unseen > 0 ? now.unseen / EDGES_SHARE : 0);
}

// What a level counts: vertices found and the edges that leave them, edges looked at, chunks.
struct Counts { u64 found, ahead, inspected, chunks; };

__device__ inline bool is_set(const u32 *bits, VERTEX vertex) { return bits[vertex >> 5] >> (vertex & 31) & 1; }

// The sum over a warp, in all lanes.
__device__ inline u64 warp_sum(u64 value) {
    for (int distance = 16; distance; distance /= 2) value += __shfl_xor_sync(WARP, i64(value), distance);
    return value;
}

// *sum += the parts of all threads of a block, all of which call this: once for each block, since additions to one
// place wait for each other.
__device__ inline void add_up(u64 *sum, u64 part) {
    __shared__ u64 of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    part = warp_sum(part);
    if (threadIdx.x % 32 == 0 && part) atomicAdd(&of_block, part);
    __syncthreads();
    if (threadIdx.x == 0 && of_block) atomicAdd(sum, of_block);
    __syncthreads();
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

// The vertices of a bitmap in a queue; counts them, and the edges that leave them.  Each warp has words that stand
// together, of which it asks word_at(word), and reserves its places once.
template <class Word>
__device__ void list_bits(i64 words, Word word_at, const OFFSET *indptr, VERTEX *queue, u64 *found, u64 *edges) {
    const int lane = threadIdx.x % 32;
    const i64 rows = (words + 31) / 32, warps = all_threads() / 32, share = (rows + warps - 1) / warps * 32;
    const i64 first = this_thread() / 32 * share, last = first + share < words ? first + share : words;
    u32 count = 0;
    for (i64 word = first + lane; word < last; word += 32) count += __popc(word_at(word));
    u64 leave = 0;
    if (__any_sync(WARP, count)) {
        u64 place = reserve(found, count, lane);
        for (i64 word = first + lane; word < last; word += 32) {
            for (u32 bits = word_at(word); bits; bits &= bits - 1) {
                const VERTEX vertex = VERTEX(word * 32 + __popc((bits & -bits) - 1));
                queue[place++] = vertex;
                leave += indptr[vertex + 1] - indptr[vertex];
            }
        }
    }
    add_up(edges, leave);
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
