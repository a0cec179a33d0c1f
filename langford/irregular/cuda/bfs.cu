// Breadth-first search in one launch: each phase of a level is a function, with a barrier of all blocks between two.
//
// All blocks must be on the GPU at the same time.  On the host there is one.
// Defined by the loader: VERTEX, OFFSET.
#include "below.cuh"

// One search.
struct Search {
    const OFFSET *indptr;
    Rows indices;
    i64 n;
    VERTEX *parent, *queue;
    Chunks chunks;
    u32 *visited;
};

// What a level from above counts in a thread.
struct Claimed { u64 found, ahead; };

// Claims the targets of edges of a vertex (as expand takes them); new ones are put into the bitmap `bits`, or where
// there is none appended to the queue from `tail` on.
__device__ inline void claim(const Search &search, VERTEX vertex, OFFSET edge, OFFSET last, OFFSET step, u64 tail,
                             u32 *bits, Counts *counts, Claimed &claimed) {
    VERTEX target[AT_ONCE];
    bool fresh[AT_ONCE];
    u32 count = 0;
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
        fresh[k] = edge + k * step < last;
        target[k] = fresh[k] ? search.indices[edge + k * step] : 0;
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) fresh[k] = fresh[k] && !is_set(search.visited, target[k]);
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
        const u32 bit = 1u << (target[k] & 31);
        if (fresh[k]) fresh[k] = !(atomicOr(&search.visited[target[k] >> 5], bit) & bit);
        count += fresh[k];
    }
    u64 place = 0;
    if (bits) {
        claimed.found += count;
    } else {
        if (!__any_sync(WARP, count)) return;
        place = tail + reserve(&counts->found, count, threadIdx.x % 32);
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
        if (!fresh[k]) continue;
        search.parent[target[k]] = vertex;
        if (bits) atomicOr(&bits[target[k] >> 5], 1u << (target[k] & 31));
        else search.queue[place++] = target[k];
        claimed.ahead += search.indptr[target[k] + 1] - search.indptr[target[k]];
    }
}

// From above, for the frontier queue[begin:end], or for the chunks that this leaves over.
__device__ void search_down(const Search &search, u64 begin, u64 end, u32 *bits, Counts *counts) {
    Claimed claimed = {0, 0};
    expand(search.queue, begin, end, search.indptr, search.chunks, counts,
           [&](VERTEX vertex, OFFSET edge, OFFSET last, OFFSET step) {
               claim(search, vertex, edge, last, step, end, bits, counts, claimed);
           });
    add_up(&counts->found, claimed.found);
    add_up(&counts->ahead, claimed.ahead);
}
__device__ void search_chunks(const Search &search, u64 end, u32 *bits, Counts *counts) {
    Claimed claimed = {0, 0};
    expand_chunks(counts->chunks, search.indptr, search.chunks,
                  [&](VERTEX vertex, OFFSET edge, OFFSET last, OFFSET step) {
                      claim(search, vertex, edge, last, step, end, bits, counts, claimed);
                  });
    add_up(&counts->found, claimed.found);
    add_up(&counts->ahead, claimed.ahead);
}

// The frontier queue[begin:end] in a bitmap of zeros.
__device__ void queue_to_bits(const Search &search, u64 begin, u64 end, u32 *bits) {
    EACH(at, i64(end - begin)) {
        const VERTEX vertex = search.queue[begin + at];
        atomicOr(&bits[vertex >> 5], 1u << (vertex & 31));
    }
}

__device__ inline void exchange(u32 *&one, u32 *&other) {
    u32 *const first = one;
    one = other;
    other = first;
}

// Writes the parents of all vertices, −1: not reached.  `back_indptr` … `closed` are those of Below.
// `direction`: 0 from above, 1 from below, 2 whichever looks at fewer edges.  The record: number of levels, then of
// each level the frontier, the edges looked at and whether it went from below.  `scratch`: the gate of the barrier,
// zeros before the first search of all, then what a search counts, in turns of three levels.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, 4)
search(const OFFSET *indptr, Rows indices, const OFFSET *back_indptr, Rows back_indices, const VERTEX *heads,
       const u32 *closed, i64 n, i64 edges, VERTEX *queue, u32 *visited, u32 *front, u32 *following,
       VERTEX *chunk_vertex, OFFSET *chunk_edge, u64 *scratch, i64 root, i64 direction, VERTEX *parent, i64 *record) {
    const Search all = {indptr, indices, n, parent, queue, {chunk_vertex, chunk_edge}, visited};
    u32 *gate = reinterpret_cast<u32 *>(scratch);
    Counts *slots = reinterpret_cast<Counts *>(scratch + 2);  // of a level, and of its turn to a queue
    const bool first_thread = this_thread() == 0;
    const i64 words = (n + 31) / 32;

    EACH(word, words) {
        visited[word] = word == root >> 5 ? 1u << (root & 31) : 0;
        following[word] = 0;
    }
    if (first_thread) {
        parent[root] = queue[0] = root;
        slots[0] = slots[1] = Counts{0, 0, 0, 0};
    }
    wait_for_all(gate);

    // The first level from below writes the parents of all that are not visited: nobody else does.
    bool below = direction == 1, as_bits = false, blank = true;
    u64 begin = 0, end = 1, size = 1, before = 0, ahead = indptr[root + 1] - indptr[root];
    i64 unseen = edges, level = 0;
    for (; size; level++) {
        Counts *counts = slots + 2 * (level % 3);
        // All blocks have read these, and none writes to them in this level.
        if (first_thread) slots[2 * ((level + 1) % 3)] = slots[2 * ((level + 1) % 3) + 1] = Counts{0, 0, 0, 0};
        if (direction == 2) below = goes_below({size, before, ahead, unseen, below}, n);
        if (below && !as_bits) {
            queue_to_bits(all, begin, end, following);
            wait_for_all(gate);
            exchange(front, following);
        } else if (!below && as_bits) {
            EACH(word, words) following[word] = 0;
            Counts *listed = counts + 1;
            list_bits(words, [=](i64 word) { return front[word]; }, indptr, queue, &listed->found, &listed->ahead);
            wait_for_all(gate);
            begin = 0;
            end = listed->found;
            ahead = listed->ahead;
        }
        as_bits = below;
        u64 inspected = ahead;
        if (below) {
            look_from_below({back_indptr, back_indices, heads, closed, front, n, parent}, following, visited, blank,
                            [](VERTEX source) { return source; }, counts);
            wait_for_all(gate);
            blank = false;
            inspected = counts->inspected;
            exchange(front, following);
        } else {
            // Here `following` is zeros.
            as_bits = direction && ahead > u64(n / BITS_SHARE);
            u32 *const bits = as_bits ? following : nullptr;
            search_down(all, begin, end, bits, counts);
            wait_for_all(gate);
            if (counts->chunks) {
                search_chunks(all, end, bits, counts);
                wait_for_all(gate);
            }
            begin = end;
            if (as_bits) exchange(front, following);
            else end += counts->found;
            ahead = counts->ahead;
        }
        if (first_thread && level < MAX_LEVELS) {
            record[1 + 3 * level] = size;
            record[2 + 3 * level] = inspected;
            record[3 + 3 * level] = below;
        }
        unseen -= inspected;
        before = size;
        size = counts->found;
    }
    if (blank) {
        EACH(vertex, n) {
            if (!is_set(visited, vertex)) parent[vertex] = -1;
        }
    }
    if (first_thread) record[0] = level;
}
