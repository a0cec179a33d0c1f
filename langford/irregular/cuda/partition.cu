// Breadth-first search over a graph split into blocks: what one rank does between two exchanges.
//
// A launch of `search_level` is a level of this rank's block; all blocks of threads must be on the GPU at the same time.
// It reads from the frontier's own buffer what all ranks found in the level before, and so decides by itself, as
// every rank does, whether to go from above or from below: the host need not look until the search is over.
// Defined by the loader: VERTEX, OFFSET.
#include "below.cuh"

// What a rank tells behind its part of a bitmap: vertices of its row that are new, the edges that leave them, the
// edges looked at.
struct Told { u64 found, ahead, inspected, unused; };
constexpr int TOLD = sizeof(Told) / sizeof(u32);

// Where a search is; after the gate of the barrier.
struct Progress {
    i64 level, below, before, unseen;
    Counts counts[2];  // of this level, zeros for the next one
};

// One rank's share.  Sources are numbered by their chunk of the column, `stride` apart.
struct Share {
    const OFFSET *down_indptr;
    Rows down_indices;
    i64 rows, chunk, chunks, columns, column;
    VERTEX *parent, *queue;
    Chunks lists;
    u32 *visited, *following;

    __device__ i64 stride() const { return chunk + TOLD * 32; }
    __device__ Told *told(u32 *part, i64 size) const { return reinterpret_cast<Told *>(part + size / 32); }
    // The vertex that a source of the block is.
    __device__ VERTEX label(VERTEX source) const {
        const VERTEX step = VERTEX(stride()), which = source / step;
        return VERTEX((which * columns + column) * chunk) + (source - which * step);
    }
};

// Before the first level.  `row`, `source`: where the root is in this block, −1 where it is not.
extern "C" __global__ void start_search(i64 rows, i64 words, i64 root, i64 row, i64 source, i64 chunk, i64 edges,
                                 VERTEX *parent, u32 *visited, u32 *front, u64 *progress, i64 *record) {
    EACH(target, rows) parent[target] = target == row ? root : -1;
    EACH(word, rows / 32) visited[word] = row >= 0 && word == row >> 5 ? 1u << (row & 31) : 0;
    // One vertex is in the frontier, says the first part; what is ahead of it decides nothing.
    EACH(word, words) front[word] = word == chunk / 32 || (source >= 0 && word == source >> 5)
                                        ? (word == chunk / 32 ? 1u : 1u << (source & 31)) : 0;
    if (this_thread() == 0) {
        Progress *now = reinterpret_cast<Progress *>(progress + 1);
        *now = Progress{0, 0, 0, edges, {{0, 0, 0, 0}, {0, 0, 0, 0}}};
        progress[0] = 0;
        record[0] = 0;
    }
}

// Targets of a source (as expand takes them) get this parent, unless they have one.
__device__ inline void mark(const Share &share, VERTEX source, OFFSET edge, OFFSET last, OFFSET step) {
    const VERTEX vertex = share.label(source);
    VERTEX target[AT_ONCE];
    bool fresh[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
        fresh[k] = edge + k * step < last;
        target[k] = fresh[k] ? share.down_indices[edge + k * step] : 0;
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
        const u32 known = fresh[k] ? share.visited[target[k] >> 5] | share.following[target[k] >> 5] : 0;
        fresh[k] = fresh[k] && !(known >> (target[k] & 31) & 1);
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
        const u32 bit = 1u << (target[k] & 31);
        if (fresh[k] && !(atomicOr(&share.following[target[k] >> 5], bit) & bit)) share.parent[target[k]] = vertex;
    }
}

// The union of the row's bitmaps, `step` words apart: visited from now on; this rank's part goes to `own`, and what
// the row found to `told`.
__device__ void unite_parts(const u32 *parts, i64 count, i64 step, i64 rows, i64 first, i64 chunk, bool below,
                            const VERTEX *degrees, u32 *visited, u32 *own, Told *told) {
    u64 found = 0, ahead = 0;
    EACH_WARP(word, rows / 32) {
        u32 bits = 0;
        for (i64 part = 0; part < count && word < rows / 32; part++) bits |= parts[part * step + word];
        if (bits) visited[word] |= bits;
        const i64 place = word - first / 32;
        if (word < rows / 32 && place >= 0 && place < chunk / 32) own[place] = bits;
        found += __popc(bits);
        // Only from above it matters what is ahead.
        for (u32 left = below ? 0 : bits; left; left &= left - 1) ahead += degrees[word * 32 + __popc((left & -left) - 1)];
    }
    add_up(&told->found, found);
    add_up(&told->ahead, ahead);
}

// A level: marks what the frontier reaches in this block.  With one column of blocks, also what `unite_row` does.
// The record: the number of levels once the search is over, then of each level the frontier, the edges looked at and
// whether it went from below.  `direction`: 0 from above, 1 from below, 2 whichever looks at fewer edges.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, 4)
search_level(const OFFSET *down_indptr, Rows down_indices, const OFFSET *up_indptr,
             Rows up_indices, const VERTEX *up_heads, const u32 *closed, i64 n, i64 rows, i64 chunk, i64 chunks,
             i64 columns, i64 column, i64 direction, const VERTEX *degrees, VERTEX *parent, VERTEX *queue, u32 *visited,
             u32 *front, u32 *following, u32 *own, VERTEX *chunk_vertex, OFFSET *chunk_edge,
             u64 *progress, i64 *record) {
    const Share share = {down_indptr, down_indices, rows, chunk, chunks, columns, column, parent, queue,
                         {chunk_vertex, chunk_edge}, visited, following};
    u32 *gate = reinterpret_cast<u32 *>(progress);
    Progress *now = reinterpret_cast<Progress *>(progress + 1);
    const bool first_thread = this_thread() == 0;
    const i64 level = now->level;
    Counts *counts = &now->counts[level % 2];
    Told all = {0, 0, 0, 0};
    for (i64 part = 0; part < chunks; part++) {
        const Told *one = share.told(front + part * (share.stride() / 32), chunk);
        all.found += one->found;
        all.ahead += one->ahead;
        all.inspected += one->inspected;
    }
    if (first_thread && level && level <= MAX_LEVELS) record[3 * level - 1] = all.inspected;
    if (!all.found) {
        if (first_thread) record[0] = level;
        return;
    }
    const i64 unseen = now->unseen - i64(all.inspected);
    const Standing standing = {all.found, u64(now->before), all.ahead, unseen, now->below != 0};
    const bool below = direction == 2 ? goes_below(standing, n) : direction == 1;
    Told *told = share.told(own, chunk);
    if (first_thread) {
        now->counts[1 - level % 2] = Counts{0, 0, 0, 0};
        *told = Told{0, 0, 0, 0};
        if (level < MAX_LEVELS) {
            record[1 + 3 * level] = all.found;
            record[3 + 3 * level] = below;
        }
    }
    if (below) {
        look_from_below({up_indptr, up_indices, up_heads, closed, front, rows, parent}, following, visited, false,
                        [&](VERTEX source) { return share.label(source); }, counts);
        wait_for_all(gate);
    } else {
        EACH(word, rows / 32) following[word] = 0;
        const i64 step = share.stride() / 32;
        const auto word_at = [=](i64 word) { return word % step < chunk / 32 ? front[word] : 0; };
        list_bits(chunks * step, word_at, down_indptr, queue, &counts->found, &counts->inspected);
        wait_for_all(gate);
        const auto take = [&](VERTEX source, OFFSET edge, OFFSET last, OFFSET step) {
            mark(share, source, edge, last, step);
        };
        expand(queue, 0, counts->found, down_indptr, share.lists, counts, take);
        wait_for_all(gate);
        if (counts->chunks) {
            expand_chunks(counts->chunks, down_indptr, share.lists, take);
            wait_for_all(gate);
        }
    }
    if (first_thread) {
        now->level = level + 1;
        now->below = below;
        now->before = all.found;
        now->unseen = unseen;
        (columns == 1 ? told : share.told(following, rows))->inspected = counts->inspected;
    }
    if (columns == 1) unite_parts(following, 1, 0, rows, 0, chunk, below, degrees, visited, following, told);
}

// The bitmaps of the row, each with what its rank tells, in one.
extern "C" __global__ void unite_row(u32 *parts, i64 count, i64 rows, i64 first, i64 chunk, const VERTEX *degrees,
                                 const u64 *progress, u32 *visited, u32 *own) {
    const Progress *now = reinterpret_cast<const Progress *>(progress + 1);
    const i64 step = rows / 32 + TOLD;
    Told *told = reinterpret_cast<Told *>(own + chunk / 32);
    // Set, not added to: once a search is over, its last level may be united again.
    if (this_thread() == 0) {
        u64 inspected = 0;
        for (i64 part = 0; part < count; part++)
            inspected += reinterpret_cast<Told *>(parts + part * step + rows / 32)->inspected;
        told->inspected = inspected;
    }
    unite_parts(parts, count, step, rows, first, chunk, now->below, degrees, visited, own, told);
}
