// Accumulations over trees and linked lists.
//
// Defined by the loader: VERTEX, VALUE.  Operators: 0 add, 1 multiply, 2 minimum, 3 maximum, 4 exclusive or.
#include "arrays.cuh"

// Floats have no exclusive or; nobody asks for it.
template <class T> __device__ inline T exclusive_or(T value, T other) { return value ^ other; }
__device__ inline float exclusive_or(float value, float) { return value; }
__device__ inline double exclusive_or(double value, double) { return value; }

__device__ inline VALUE combined(int op, VALUE value, VALUE other) {
    switch (op) {
        case 0: return value + other;
        case 1: return value * other;
        case 2: return value < other ? value : other;
        case 3: return value > other ? value : other;
        default: return exclusive_or(value, other);
    }
}

__device__ inline void combine_at(int op, VALUE *at, VALUE value) {
    if (op == 0) add_atomically(at, value);
    else combine_atomically(at, value, [op](VALUE before, VALUE other) { return combined(op, before, other); });
}

// The same by a whole warp; threads without a value are not `active`.
__device__ inline void combine_all_at(int op, bool active, VALUE *at, VALUE value) {
    combine_as_warp(active, at, value, [op](VALUE one, VALUE other) { return combined(op, one, other); },
                    [op](VALUE *place, VALUE sum) { combine_at(op, place, sum); });
}

// One round of pointer jumping over a list, or a tree: `after` becomes the next but as many as before.
extern "C" __global__ void jump(i64 n, const i64 *following, const i64 *rank, i64 *after, i64 *new_rank) {
    EACH(element, n) {
        const i64 next = following[element];
        new_rank[element] = rank[element] + rank[next];
        after[element] = following[next];
    }
}

// values[target] ∘= values[source] for each entry; equal targets stand together, and no target is a source.
extern "C" __global__ void gather_up(int op, i64 entries, const i64 *targets, const i64 *sources, VALUE *values) {
    EACH_WARP(run, (entries + RUN - 1) / RUN) {
        const i64 begin = run * RUN, end = begin + RUN < entries ? begin + RUN : entries;
        const bool active = begin < end;
        VALUE value = active ? values[sources[begin]] : VALUE(0);
        for (i64 entry = begin + 1; entry < end; entry++) {
            if (targets[entry] == targets[entry - 1]) {
                value = combined(op, value, values[sources[entry]]);
            } else {
                combine_at(op, &values[targets[entry - 1]], value);
                value = values[sources[entry]];
            }
        }
        combine_all_at(op, active, active ? &values[targets[end - 1]] : values, value);
    }
}

// values[source] = values[target] ∘ values[source] for each entry: the transposed matrix.
extern "C" __global__ void scatter_down(int op, i64 entries, const i64 *targets, const i64 *sources, VALUE *values) {
    EACH(entry, entries) {
        values[sources[entry]] = combined(op, values[targets[entry]], values[sources[entry]]);
    }
}

// values[place] ∘= others[k] for the k-th of `count` places, which may repeat.
extern "C" __global__ void scatter_at(int op, i64 count, const i64 *places, const VALUE *others, VALUE *values) {
    EACH(at, count) combine_at(op, &values[places[at]], others[at]);
}

// gather_up and scatter_down for a level of the tree, order[begin:end], between its vertices and their parents.
extern "C" __global__ void level_up(int op, i64 begin, i64 end, const VERTEX *order, const VERTEX *above, VALUE *values) {
    EACH_WARP(run, (end - begin + RUN - 1) / RUN) {
        const i64 first = begin + run * RUN, last = first + RUN < end ? first + RUN : end;
        const bool active = first < last;
        VALUE value = active ? values[order[first]] : VALUE(0);
        for (i64 at = first + 1; at < last; at++) {
            if (above[order[at]] == above[order[at - 1]]) {
                value = combined(op, value, values[order[at]]);
            } else {
                combine_at(op, &values[above[order[at - 1]]], value);
                value = values[order[at]];
            }
        }
        combine_all_at(op, active, active ? &values[above[order[last - 1]]] : values, value);
    }
}
extern "C" __global__ void level_down(int op, i64 begin, i64 end, const VERTEX *order, const VERTEX *above, VALUE *values) {
    EACH(at, end - begin) {
        const VERTEX vertex = order[begin + at];
        values[vertex] = combined(op, values[above[vertex]], values[vertex]);
    }
}
