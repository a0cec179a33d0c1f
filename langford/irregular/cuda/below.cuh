// A level of a search from below: each vertex that is not visited looks for a parent in the frontier.
//
// Defined by the loader: VERTEX, OFFSET.
#include "search.cuh"

// Words of the bitmaps whose vertices a warp looks up together: so many loads are under way at a time.
constexpr int WORDS = 2;
// Vertices of a word, in the mean, above which a warp takes them together.
constexpr int MANY = 2;
// Edges of a row that a lane looks at together behind the first one.
constexpr int FURTHER = 4;

// What a search from below reads, and where it writes.
struct Below {
    const OFFSET *indptr;
    Rows indices;
    // The first entry of each row: most vertices find their parent there, and need not look where their row is.
    // −1 − entry where the row has no other.
    const VERTEX *heads;
    const u32 *closed;  // a bitmap of the vertices without a row, and of the bits after the last vertex
    const u32 *front;   // the frontier
    i64 n;
    VERTEX *parent;

    __device__ inline bool leads_to_front(VERTEX head) const { return is_set(front, entry_of(head)); }
    static __device__ inline VERTEX entry_of(VERTEX head) { return head < 0 ? -1 - head : head; }
    static __device__ inline bool has_more(VERTEX head) { return head >= 0; }
};

// Of a word of the bitmaps: the vertices that found a parent, and those that have not at the heads of their rows.
struct Looked { u32 found, left; };

// Whether the bit of this lane is 0 in the word that another one has.
__device__ inline bool is_zero(u32 bits, int other, int lane) {
    return !(__shfl_sync(WARP, i64(bits), other & 31) >> lane & 1);
}

// The heads of the vertices of a warp's words, where many wait for a parent: a lane has its bit of each word.
// `known`: the vertices visited before; `done`: those and the ones without a row.
template <class Label>
__device__ inline Looked heads_by_bit(const Below &graph, i64 base, u32 known, u32 done, bool blank, Label label) {
    const int lane = threadIdx.x % 32;
    Looked mine = {0, 0};
    for (u32 open = __ballot_sync(WARP, (blank ? known : done) != WARP); open;) {
        int word[WORDS];
        VERTEX head[WORDS];
        bool empty[WORDS], waits[WORDS], reached[WORDS];
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            word[k] = open ? __popc((open & -open) - 1) : -1;
            open &= open - 1;
            const i64 vertex = (base + word[k]) * 32 + lane;
            waits[k] = word[k] >= 0 && is_zero(done, word[k], lane);
            empty[k] = blank && is_zero(known, word[k], lane) && word[k] >= 0 && vertex < graph.n;
            head[k] = waits[k] ? graph.heads[vertex] : 0;
        }
#pragma unroll
        for (int k = 0; k < WORDS; k++) reached[k] = waits[k] && graph.leads_to_front(head[k]);
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            const u32 found = __ballot_sync(WARP, reached[k]);
            const u32 left = __ballot_sync(WARP, waits[k] && !reached[k] && Below::has_more(head[k]));
            if (lane == word[k]) mine = {found, left};
            if (reached[k] || empty[k]) {
                graph.parent[(base + word[k]) * 32 + lane] = reached[k] ? label(Below::entry_of(head[k])) : -1;
            }
        }
    }
    // Other lanes may write the parents of this one's word again.
    __syncwarp();
    return mine;
}

// The same where few wait: a lane has the bits of its own word.
template <class Label>
__device__ inline Looked heads_by_word(const Below &graph, i64 word, u32 done, Label label) {
    Looked mine = {0, 0};
    for (u32 open = ~done; open;) {
        u32 bit[AT_ONCE];
        VERTEX head[AT_ONCE];
        bool reached[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            bit[k] = open & -open;
            open ^= bit[k];
            head[k] = bit[k] ? graph.heads[word * 32 + __popc(bit[k] - 1)] : 0;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) reached[k] = bit[k] && graph.leads_to_front(head[k]);
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            if (reached[k]) {
                mine.found |= bit[k];
                graph.parent[word * 32 + __popc(bit[k] - 1)] = label(Below::entry_of(head[k]));
            } else if (Below::has_more(head[k])) {
                mine.left |= bit[k];
            }
        }
    }
    return mine;
}

// The rest of the rows of the vertices that are left of a word: a lane goes on to its next row, which it has fetched
// meanwhile, when it is done with one.  Returns how many edges it has looked at.
template <class Label> __device__ inline u64 look_further(const Below &graph, i64 word, Looked &mine, Label label) {
    u64 inspected = 0;
    u32 left = mine.left, bit = 0, next = 0;
    OFFSET edge = 0, last = 0, next_edge = 0, next_last = 0;
    const auto fetch = [&] {
        next = left & -left;
        left ^= next;
        if (!next) return;
        const i64 vertex = word * 32 + __popc(next - 1);
        next_edge = graph.indptr[vertex] + 1;
        next_last = graph.indptr[vertex + 1];
    };
    for (fetch(); next || edge < last;) {
        if (edge == last) {
            bit = next;
            edge = next_edge;
            last = next_last;
            fetch();
        }
        VERTEX sources[FURTHER];
        bool there[FURTHER];
#pragma unroll
        for (int k = 0; k < FURTHER; k++) sources[k] = edge + k < last ? graph.indices[edge + k] : -1;
#pragma unroll
        for (int k = 0; k < FURTHER; k++) there[k] = sources[k] >= 0 && is_set(graph.front, sources[k]);
#pragma unroll
        for (int k = 0; k < FURTHER; k++) {
            if (edge == last) continue;
            edge++;
            inspected++;
            if (!there[k]) continue;
            mine.found |= bit;
            graph.parent[word * 32 + __popc(bit - 1)] = label(sources[k]);
            last = edge;
        }
    }
    return inspected;
}

// From below: each vertex that is not visited looks for a parent in the frontier; `following` is the next one, and
// `label` names a parent.  A warp takes up to 32 words of the bitmaps at a time, fewer where that leaves others
// without any.  `blank`: the parents of vertices that are not visited have not been written yet; those that find none
// get −1.
template <class Label>
__device__ void look_from_below(const Below &graph, u32 *following, u32 *visited, bool blank, Label label,
                                Counts *counts) {
    const int lane = threadIdx.x % 32;
    const i64 words = (graph.n + 31) / 32, warps = all_threads() / 32;
    const i64 span = words / warps < WORDS ? WORDS : words / warps < 32 ? words / warps : 32;
    u64 inspected = 0, found = 0;
    for (i64 base = this_thread() / 32 * span; base < words; base += warps * span) {
        const i64 word = base + lane;
        const bool mine = lane < span && word < words;
        const u32 known = mine ? visited[word] : WARP, done = mine ? known | graph.closed[word] : WARP;
        const bool many = warp_sum(__popc(~done)) > u64(MANY * span);
        Looked looked = blank || many ? heads_by_bit(graph, base, known, done, blank, label)
                                      : heads_by_word(graph, word, done, label);
        inspected += __popc(~done) + look_further(graph, word, looked, label);
        if (mine) {
            following[word] = looked.found;
            if (looked.found) visited[word] = known | looked.found;
        }
        found += __popc(looked.found);
    }
    add_up(&counts->found, found);
    add_up(&counts->inspected, inspected);
}
