// Strong components: the largest vertices that reach each vertex, and that it reaches, along the edges that are left.
//
// Defined by the loader: VERTEX.
#include "grid.cuh"

// Pass the largest numbers along the edges, and along the chains of numbers themselves, until none changes or
// `sweeps` are done: then `unsettled` is set.
extern "C" __global__ void propagate(i64 edges, i64 sweeps, const VERTEX *sources, const VERTEX *targets,
                                     const signed char *left, VERTEX *before, VERTEX *after, u32 *gate,
                                     int *unsettled) {
    bool any = true;
    for (; any && sweeps > 0; sweeps--) {
        any = false;
        EACH(edge, edges) {
            if (!left[edge]) continue;
            const VERTEX source = sources[edge], target = targets[edge];
            // What reaches the vertex that reaches the source reaches the source too, and the same backwards.
            VERTEX into = before[source], out = after[target];
            if (before[into] > into) into = before[into];
            if (after[out] > out) out = after[out];
            if (into > before[target]) {
                atomicMax(&before[target], into);
                any = true;
            }
            if (out > after[source]) {
                atomicMax(&after[source], out);
                any = true;
            }
        }
        any = any_of_all(gate, any);
    }
    if (any && this_thread() == 0) *unsettled = 1;
}

// Drop the edges that leave a component: their ends have different numbers; count those that are left.
extern "C" __global__ void cut(i64 edges, const VERTEX *sources, const VERTEX *targets, signed char *left,
                               const VERTEX *before, const VERTEX *after, int *remaining) {
    EACH(edge, edges) {
        if (!left[edge]) continue;
        const VERTEX source = sources[edge], target = targets[edge];
        const bool settled = before[source] == after[source];
        if (before[source] != before[target] || after[source] != after[target] || settled) {
            left[edge] = 0;
        } else {
            *remaining = 1;
        }
    }
}

// A vertex whose two numbers are equal is in the component of that number; the others begin again.
extern "C" __global__ void settle(i64 n, VERTEX *before, VERTEX *after, VERTEX *labels) {
    EACH(vertex, n) {
        if (labels[vertex] >= 0) continue;
        if (before[vertex] == after[vertex]) {
            labels[vertex] = before[vertex];
        } else {
            before[vertex] = after[vertex] = VERTEX(vertex);
        }
    }
}
