// One level of a breadth-first search: each phase is a kernel of its own.
//
// Defined by the loader: VERTEX, OFFSET.
#include "arrays.cuh"

// What a level counts, in this order.
enum { FOUND, AHEAD, INSPECTED, COUNTERS };

// A warp per vertex of the frontier queue[begin:end] claims its unvisited targets and appends them to the queue.
extern "C" __global__ void expand_down(const OFFSET *indptr, const VERTEX *indices, VERTEX *queue, i64 begin, i64 end,
                                       u32 *visited, VERTEX *parent, u64 *counters) {
    const int lane = threadIdx.x % 32;
    u64 ahead = 0;
    for (i64 at = begin + this_thread() / 32; at < end; at += all_threads() / 32) {
        const VERTEX vertex = queue[at];
        for (OFFSET edge = indptr[vertex] + lane; edge < indptr[vertex + 1]; edge += 32) {
            const VERTEX target = indices[edge];
            const u32 bit = 1u << (target & 31);
            if (visited[target >> 5] & bit || atomicOr(&visited[target >> 5], bit) & bit) continue;
            parent[target] = vertex;
            queue[end + atomicAdd(&counters[FOUND], u64(1))] = target;
            ahead += indptr[target + 1] - indptr[target];
        }
    }
    if (ahead) atomicAdd(&counters[AHEAD], ahead);
}

// Each unvisited vertex looks for a parent in the bitmap of the frontier; `following` is the next bitmap.
// A warp owns the words of its vertices.
extern "C" __global__ void expand_up(const OFFSET *indptr, const VERTEX *indices, i64 n, const u32 *front,
                                     u32 *following, u32 *visited, VERTEX *parent, u64 *counters) {
    u64 inspected = 0, found = 0;
    for (i64 vertex = this_thread(); vertex < (n + 31) / 32 * 32; vertex += all_threads()) {
        bool reached = false;
        if (vertex < n && !(visited[vertex >> 5] >> (vertex & 31) & 1)) {
            for (OFFSET edge = indptr[vertex]; edge < indptr[vertex + 1]; edge++) {
                const VERTEX source = indices[edge];
                inspected++;
                if (front[source >> 5] >> (source & 31) & 1) {
                    parent[vertex] = source;
                    reached = true;
                    break;
                }
            }
        }
        const u32 word = __ballot_sync(0xFFFFFFFFu, reached);
        if (threadIdx.x % 32 == 0) {
            following[vertex >> 5] = word;
            visited[vertex >> 5] |= word;
            found += __popc(word);
        }
    }
    if (found) atomicAdd(&counters[FOUND], found);
    if (inspected) atomicAdd(&counters[INSPECTED], inspected);
}

// The frontier queue[begin:end] as a bitmap of zeros.
extern "C" __global__ void queue_to_bits(const VERTEX *queue, i64 begin, i64 end, u32 *front) {
    EACH(at, end - begin) {
        const VERTEX vertex = queue[begin + at];
        atomicOr(&front[vertex >> 5], 1u << (vertex & 31));
    }
}

// A bitmap as a queue; counts its vertices and the edges that leave them.
extern "C" __global__ void bits_to_queue(const OFFSET *indptr, i64 n, const u32 *front, VERTEX *queue, u64 *counters) {
    u64 ahead = 0;
    EACH(vertex, n) {
        if (!(front[vertex >> 5] >> (vertex & 31) & 1)) continue;
        queue[atomicAdd(&counters[FOUND], u64(1))] = VERTEX(vertex);
        ahead += indptr[vertex + 1] - indptr[vertex];
    }
    if (ahead) atomicAdd(&counters[AHEAD], ahead);
}
