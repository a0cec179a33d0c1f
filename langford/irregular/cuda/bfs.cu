// Breadth-first search in one launch: each phase of a level is a function, with a barrier of all blocks between two.
//
// All blocks must be on the GPU at the same time.  On the host there is one.
// Defined by the loader: VERTEX, OFFSET.
#include "search.cuh"

// One search.
struct Search {
    const OFFSET *indptr, *back_indptr;
    Rows indices, back_indices;
    i64 n;
    VERTEX *parent, *queue, *chunk_vertex;
    OFFSET *chunk_edge;
    u32 *visited;
};

// Each lane of a warp, unless it is `idle`, claims a target that a vertex of the frontier has; new ones are
// appended to the queue.
__device__ inline void claim(const Search &search, bool idle, VERTEX vertex, OFFSET edge, u64 tail, Counts *counts,
                             u64 &ahead) {
    VERTEX target = 0;
    bool fresh = false;
    if (!idle) {
        target = search.indices[edge];
        const u32 bit = 1u << (target & 31);
        u32 *word = &search.visited[target >> 5];
        fresh = !(*word & bit) && !(atomicOr(word, bit) & bit);
    }
    if (!__any_sync(WARP, fresh)) return;
    const u64 place = reserve(&counts->found, fresh, threadIdx.x % 32);
    if (!fresh) return;
    search.parent[target] = vertex;
    search.queue[tail + place] = target;
    ahead += search.indptr[target + 1] - search.indptr[target];
}

// A warp claims the targets of the edges first … last − 1 of a vertex.
__device__ inline void claim_all(const Search &search, VERTEX vertex, OFFSET first, OFFSET last, u64 tail,
                                 Counts *counts, u64 &ahead) {
    for (; first < last; first += 32) {
        const OFFSET edge = first + threadIdx.x % 32;
        claim(search, edge >= last, vertex, edge, tail, counts, ahead);
    }
}

// From above: warps take 32 vertices of the frontier queue[begin:end] each.
__device__ void expand_down(const Search &search, u64 begin, u64 end, Counts *counts) {
    const int lane = threadIdx.x % 32;
    u64 ahead = 0;
    for (u64 base = begin + this_thread() / 32 * 32; base < end; base += all_threads()) {
        VERTEX vertex = 0;
        OFFSET edge = 0, last = 0;
        if (base + lane < end) {
            vertex = search.queue[base + lane];
            edge = search.indptr[vertex];
            last = search.indptr[vertex + 1];
        }
        const bool large = last - edge > CHUNK;
        if (__any_sync(WARP, large)) {
            u64 place = reserve(&counts->chunks, large ? (last - edge + CHUNK - 1) / CHUNK : 0, lane);
            for (; large && edge < last; edge += CHUNK, place++) {
                search.chunk_vertex[place] = vertex;
                search.chunk_edge[place] = edge;
            }
            if (large) edge = last;
        }
        for (u32 many = __ballot_sync(WARP, last - edge >= 32); many; many &= many - 1) {
            const int owner = __popc((many & -many) - 1);
            claim_all(search, __shfl_sync(WARP, i64(vertex), owner), __shfl_sync(WARP, i64(edge), owner),
                      __shfl_sync(WARP, i64(last), owner), end, counts, ahead);
        }
        if (last - edge >= 32) edge = last;
        for (; __any_sync(WARP, edge < last); edge++) claim(search, edge >= last, vertex, edge, end, counts, ahead);
    }
    ahead = warp_sum(ahead);
    if (lane == 0 && ahead) atomicAdd(&counts->ahead, ahead);
}

// The same for the chunks that it left over.
__device__ void expand_chunks(const Search &search, u64 end, u64 chunks, Counts *counts) {
    u64 ahead = 0;
    for (u64 at = this_thread() / 32; at < chunks; at += all_threads() / 32) {
        const VERTEX vertex = search.chunk_vertex[at];
        const OFFSET first = search.chunk_edge[at], last = search.indptr[vertex + 1];
        claim_all(search, vertex, first, last - first > CHUNK ? first + CHUNK : last, end, counts, ahead);
    }
    ahead = warp_sum(ahead);
    if (threadIdx.x % 32 == 0 && ahead) atomicAdd(&counts->ahead, ahead);
}

// The frontier queue[begin:end] in a bitmap of zeros.
__device__ void queue_to_bits(const Search &search, u64 begin, u64 end, u32 *front) {
    EACH(at, i64(end - begin)) {
        const VERTEX vertex = search.queue[begin + at];
        atomicOr(&front[vertex >> 5], 1u << (vertex & 31));
    }
}

// A bitmap as a queue; counts its vertices and the edges that leave them.
__device__ void bits_to_queue(const Search &search, const u32 *front, Counts *counts) {
    const int lane = threadIdx.x % 32;
    const i64 words = (search.n + 31) / 32;
    u64 ahead = 0;
    for (i64 base = this_thread() / 32 * 32; base < words; base += all_threads()) {
        u32 bits = base + lane < words ? front[base + lane] : 0;
        if (!__any_sync(WARP, bits)) continue;
        for (u64 place = reserve(&counts->found, __popc(bits), lane); bits; bits &= bits - 1, place++) {
            const VERTEX vertex = VERTEX((base + lane) * 32 + __popc((bits & -bits) - 1));
            search.queue[place] = vertex;
            ahead += search.indptr[vertex + 1] - search.indptr[vertex];
        }
    }
    ahead = warp_sum(ahead);
    if (lane == 0 && ahead) atomicAdd(&counts->ahead, ahead);
}

// Writes the parents of all vertices, −1: not reached.  `closed` is a bitmap of vertices that no edge enters.
// `direction`: 0 from above, 1 from below, 2 whichever looks at fewer edges.  The record: number of levels, then of
// each level the frontier, the edges looked at and whether it went from below.  `scratch`: 26 zeros; what the search
// counts, in turns of three levels, after the gate of the barrier.
extern "C" __global__ void search(const OFFSET *indptr, Rows indices, const OFFSET *back_indptr, Rows back_indices,
                                  i64 n, i64 edges, i64 root, i64 direction, const u32 *closed, VERTEX *parent,
                                  VERTEX *queue, u32 *visited, u32 *front, u32 *following, VERTEX *chunk_vertex,
                                  OFFSET *chunk_edge, u64 *scratch, i64 *record) {
    const Search all = {indptr, back_indptr, indices, back_indices, n, parent, queue, chunk_vertex, chunk_edge, visited};
    u32 *gate = reinterpret_cast<u32 *>(scratch);
    Counts *slots = reinterpret_cast<Counts *>(scratch + 2);  // of a level, and of its turn to a queue
    const bool first_thread = this_thread() == 0;
    const i64 words = (n + 31) / 32;

    EACH(vertex, n) parent[vertex] = vertex == root ? vertex : -1;
    EACH(word, words) visited[word] = closed[word] | (word == root >> 5 ? 1u << (root & 31) : 0);
    if (first_thread) queue[0] = root;
    wait_for_all(gate);

    bool below = direction == 1, as_bits = false;
    u64 begin = 0, end = 1, size = 1, before = 0, ahead = indptr[root + 1] - indptr[root];
    i64 unseen = edges, level = 0;
    for (; size; level++) {
        Counts *counts = slots + 2 * (level % 3);
        // All blocks have read these, and none writes to them in this level.
        if (first_thread) slots[2 * ((level + 1) % 3)] = slots[2 * ((level + 1) % 3) + 1] = Counts{0, 0, 0, 0};
        if (direction == 2) {
            if (!below) below = i64(ahead) > unseen / EDGES_SHARE;
            else if (size < before && size < u64(n / VERTICES_SHARE)) below = false;
        }
        if (below && !as_bits) {
            EACH(word, words) front[word] = 0;
            wait_for_all(gate);
            queue_to_bits(all, begin, end, front);
            wait_for_all(gate);
        } else if (!below && as_bits) {
            bits_to_queue(all, front, counts + 1);
            wait_for_all(gate);
            begin = 0;
            end = counts[1].found;
            ahead = counts[1].ahead;
        }
        as_bits = below;
        u64 inspected = ahead;
        if (below) {
            look_from_below(back_indptr, back_indices, n, front, following, visited, parent,
                            [](VERTEX source) { return source; }, counts);
            wait_for_all(gate);
            inspected = counts->inspected;
            u32 *other = front;
            front = following;
            following = other;
        } else {
            expand_down(all, begin, end, counts);
            wait_for_all(gate);
            if (counts->chunks) {
                expand_chunks(all, end, counts->chunks, counts);
                wait_for_all(gate);
            }
            begin = end;
            end += counts->found;
            ahead = counts->ahead;
        }
        if (first_thread && level < MOST_LEVELS) {
            record[1 + 3 * level] = size;
            record[2 + 3 * level] = inspected;
            record[3 + 3 * level] = below;
        }
        unseen -= inspected;
        before = size;
        size = counts->found;
    }
    if (first_thread) record[0] = level;
}
