// Strong components: the largest vertices that reach each vertex, and that it reaches, along the edges that are left.
//
// Defined by the loader: VERTEX.
#include "grid.cuh"

// Sweeps along the edges alone, before ways along many at a time are prepared: most graphs are settled by then.
constexpr i64 PLAIN = 8;

// A number for an edge, in no order: another for each of the first 2³².
__device__ inline u32 shuffled(i64 edge) {
    u32 bits = u32(edge) * 0x9E3779B1u;
    bits ^= bits >> 16;
    bits *= 0x85EBCA6Bu;
    return bits ^ bits >> 13;
}

// The edges that are left, and for each vertex the largest that reaches it, and that it reaches, as far as is known.
struct Reach {
    i64 n, edges;
    const VERTEX *sources, *targets;
    const signed char *left;
    VERTEX *before, *after;
};

// For each vertex an edge from and an edge to it at random, by the number of the other end; itself without one.
__device__ void choose_neighbours(const Reach &reach, u32 *into, u32 *out, VERTEX *parent, VERTEX *child, u32 *gate) {
    EACH(vertex, reach.n) {
        parent[vertex] = child[vertex] = vertex;
        into[vertex] = out[vertex] = 0;
    }
    meet(gate);
    EACH(edge, reach.edges) {
        if (!reach.left[edge]) continue;
        atomicMax(&into[reach.targets[edge]], shuffled(edge));
        atomicMax(&out[reach.sources[edge]], shuffled(edge));
    }
    meet(gate);
    EACH(edge, reach.edges) {
        if (!reach.left[edge]) continue;
        const VERTEX source = reach.sources[edge], target = reach.targets[edge];
        if (into[target] == shuffled(edge)) parent[target] = source;
        if (out[source] == shuffled(edge)) child[source] = target;
    }
    meet(gate);
}

__device__ inline bool raise_to(VERTEX *at, VERTEX value) {
    if (value <= *at) return false;
    atomicMax(at, value);
    return true;
}

// One step along every edge, and along the chains of numbers themselves; returns whether a thread changed any.
__device__ bool step(const Reach &reach) {
    bool any = false;
    EACH(edge, reach.edges) {
        if (!reach.left[edge]) continue;
        const VERTEX source = reach.sources[edge], target = reach.targets[edge];
        // What reaches the vertex that reaches the source reaches the source too, and the same backwards.
        VERTEX into = reach.before[source], out = reach.after[target];
        if (reach.before[into] > into) into = reach.before[into];
        if (reach.after[out] > out) out = reach.after[out];
        any |= raise_to(&reach.before[target], into);
        any |= raise_to(&reach.after[source], out);
    }
    return any;
}

// Pass the largest numbers on until none changes, or `sweeps` are done: then `unsettled` is set.  Each vertex also
// hears from the ancestor 1, 2, 4, … steps before it along the parents, and so along the children: a path takes as
// many sweeps as its length has bits.  After `levels` of them that begins again with the new numbers.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, 6)
propagate(i64 n, i64 edges, i64 sweeps, i64 levels, const VERTEX *sources, const VERTEX *targets,
          const signed char *left, VERTEX *before, VERTEX *after, u32 *into, u32 *out, VERTEX *parent,
          VERTEX *child, VERTEX *ancestor, VERTEX *further_ancestor, VERTEX *descendant,
          VERTEX *further_descendant, u32 *gate, int *unsettled) {
    const Reach reach = {n, edges, sources, targets, left, before, after};
    bool any = true;
    for (i64 sweep = 0; any && sweep < sweeps; sweep++) {
        if (sweep == PLAIN) choose_neighbours(reach, into, out, parent, child, gate);
        any = step(reach);
        if (sweep >= PLAIN) {
            const bool first = (sweep - PLAIN) % levels == 0;
            const VERTEX *up = first ? parent : ancestor, *down = first ? child : descendant;
            EACH(vertex, n) {
                any |= raise_to(&before[vertex], before[up[vertex]]);
                any |= raise_to(&after[vertex], after[down[vertex]]);
                further_ancestor[vertex] = up[up[vertex]];
                further_descendant[vertex] = down[down[vertex]];
            }
            VERTEX *other = ancestor;
            ancestor = further_ancestor;
            further_ancestor = other;
            other = descendant;
            descendant = further_descendant;
            further_descendant = other;
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
