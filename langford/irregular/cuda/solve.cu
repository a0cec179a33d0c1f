// Triangular solves and factorisation of matrices of trees, in double precision.
//
// Defined by the loader: VERTEX.
#include "arrays.cuh"

// *at += value, by a whole warp; threads without a value are not `active`.
__device__ inline void add_as_warp(bool active, double *at, double value) {
    combine_as_warp(active, at, value, [](double one, double other) { return one + other; },
                    add_atomically<double>);
}

// x[target] += factor · x[source] for each entry; equal targets stand together, and no target is a source.
extern "C" __global__ void multiply_up(i64 entries, i64 columns, const i64 *targets, const i64 *sources,
                                       const double *factors, double *x) {
    const i64 runs = (entries + RUN - 1) / RUN;
    EACH_WARP(piece, runs * columns) {
        const i64 column = piece % columns, begin = piece / columns * RUN;
        const i64 end = begin + RUN < entries ? begin + RUN : entries;
        double sum = 0;
        for (i64 entry = begin; entry < end; entry++) {
            sum += factors[entry] * x[sources[entry] * columns + column];
            if (entry + 1 < end && targets[entry + 1] != targets[entry]) {
                add_atomically(&x[targets[entry] * columns + column], sum);
                sum = 0;
            }
        }
        const bool active = begin < end;
        add_as_warp(active, active ? &x[targets[end - 1] * columns + column] : x, sum);
    }
}

// x[source] += factor · x[target] for each entry: the transposed matrix.
extern "C" __global__ void multiply_down(i64 entries, i64 columns, const i64 *targets, const i64 *sources,
                                         const double *factors, double *x) {
    EACH(piece, entries * columns) {
        const i64 entry = piece / columns, column = piece % columns;
        x[sources[entry] * columns + column] += factors[entry] * x[targets[entry] * columns + column];
    }
}

// LDLᵀ of a level, order[begin:end]: its pivots are final; `zero` becomes the first
// vertex found whose pivot is zero.
extern "C" __global__ void factorise_level(i64 begin, i64 end, const VERTEX *order, const VERTEX *above,
                                           const double *edge, double *pivot, i64 *zero) {
    EACH_WARP(run, (end - begin + RUN - 1) / RUN) {
        const i64 first = begin + run * RUN, last = first + RUN < end ? first + RUN : end;
        double sum = 0;
        for (i64 at = first; at < last; at++) {
            const VERTEX vertex = order[at], parent = above[vertex];
            if (pivot[vertex] == 0) {
                if (*zero < 0) *zero = vertex;
            } else if (parent != vertex) {
                sum -= edge[vertex] * edge[vertex] / pivot[vertex];
            }
            if (at + 1 < last && above[order[at + 1]] != parent) {
                if (sum != 0) add_atomically(&pivot[parent], sum);
                sum = 0;
            }
        }
        const bool active = first < last && sum != 0;
        add_as_warp(active, active ? &pivot[above[order[last - 1]]] : pivot, sum);
    }
}
