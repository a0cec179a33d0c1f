// Accumulations over trees by scans: in preorder, where a subtree is a range, and along the Euler tour.
//
// Defined by the loader: VERTEX, VALUE.  `order` are the vertices in preorder, and `number` the number of each there;
// where `renamed` is 0 all have their own, and nobody reads these.  An operator is 0, addition, or the second one of
// operators.cuh.  `states`: zeros, one for all tiles and WORDS_OF_SUM for each.
#include "scan.cuh"

__device__ inline Tiles tiles_at(u64 *states) { return {reinterpret_cast<u32 *>(states), states + 1}; }

template <class Operator>
__device__ inline void scan_row(i64 n, int renamed, const VERTEX *order, const VALUE *values, VALUE *sums,
                                const Tiles &tiles) {
    scan<Operator>(n, tiles, !renamed, values, sums, [=](i64 first, VERTEX (&places)[PACK]) {
#pragma unroll
        for (int k = 0; k < PACK; k++) places[k] = NO_VALUE;
        load(order, first, n, places);
    });
}

// The values in preorder, or in any other order.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, 4)
scan_vertices(int op, i64 n, int renamed, const VERTEX *order, const VALUE *values, VALUE *sums, u64 *states) {
    const Tiles tiles = tiles_at(states);
    if (op == 0) scan_row<Addition>(n, renamed, order, values, sums, tiles);
    else scan_row<Second>(n, renamed, order, values, sums, tiles);
}

// The Euler tour, of 2n steps.  Bit k of `entering` says whether step k enters a vertex, and `entered` how many
// steps do so before each word.
template <class Operator>
__device__ inline void scan_steps(i64 steps, const u32 *entering, const VERTEX *entered, int renamed,
                                  const VERTEX *order, int undo, const VERTEX *closing, const VALUE *values,
                                  VALUE *sums, const Tiles &tiles) {
    scan<Operator>(steps, tiles, false, values, sums, [=](i64 first, VERTEX (&places)[PACK]) {
        const bool there = first < steps;
        const u32 bits = there ? entering[first / 32] : 0;
        i64 rank = (there ? entered[first / 32] : 0) + __popc(bits & ((1u << first % 32) - 1));
#pragma unroll
        for (int k = 0; k < PACK; k++) {
            const bool enters = bits >> (first + k) % 32 & 1;
            places[k] = enters ? VERTEX(rank) : NO_VALUE;
            if (enters && renamed) places[k] = order[rank];
            if (!enters && undo && first + k < steps) places[k] = undone(closing[first + k - rank]);
            rank += enters;
        }
    });
}

// Steps that enter a vertex have its value; steps that leave one the inverse if `undo`, the vertices in the order
// `closing`.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, 4)
scan_tour(int op, i64 steps, const u32 *entering, const VERTEX *entered, int renamed, const VERTEX *order, int undo,
          const VERTEX *closing, const VALUE *values, VALUE *sums, u64 *states) {
    const Tiles tiles = tiles_at(states);
    if (op == 0) {
        scan_steps<Addition>(steps, entering, entered, renamed, order, undo, closing, values, sums, tiles);
    } else {
        scan_steps<Second>(steps, entering, entered, renamed, order, undo, closing, values, sums, tiles);
    }
}

__device__ inline VALUE left(int op, VALUE whole, VALUE part) {
    return op == 0 ? Addition::without(whole, part) : Second::without(whole, part);
}

// Vertices that a thread reads at a time.
constexpr int SOME = 8;

// Of each vertex what its subtree has, from the sums in preorder, or along the tour.
extern "C" __global__ void read_subtrees(int op, i64 n, int by_tour, int renamed, const VERTEX *__restrict__ number,
                                         const VERTEX *__restrict__ size, const VERTEX *__restrict__ depth,
                                         const VALUE *__restrict__ sums, VALUE *__restrict__ out) {
    load_ahead<SOME>(0, n, this_thread(), all_threads(), [=](i64 vertex) {
        const i64 at = renamed ? i64(number[vertex]) : vertex, below = size[vertex];
        const i64 begin = by_tour ? 2 * at - depth[vertex] : at;
        const i64 end = by_tour ? begin + 2 * below - 1 : at + below;
        return left(op, sums[end], sums[begin]);
    }, [=](i64 vertex, VALUE value) { out[vertex] = value; });
}

// Of each vertex what the path from its root has: along the tour the sum as it is entered, in preorder what has
// been entered without what has been left (`closed`, sums over the vertices as they are left).
extern "C" __global__ void read_paths(int op, i64 n, int by_tour, int renamed, const VERTEX *__restrict__ number,
                                      const VERTEX *__restrict__ depth, const VALUE *__restrict__ sums,
                                      const VALUE *__restrict__ closed, VALUE *__restrict__ out) {
    load_ahead<SOME>(0, n, this_thread(), all_threads(), [=](i64 vertex) {
        const i64 at = renamed ? i64(number[vertex]) : vertex, above = depth[vertex];
        const i64 entered = by_tour ? 2 * at - above + 1 : at + 1;
        return by_tour ? sums[entered] : left(op, sums[entered], closed[at - above]);
    }, [=](i64 vertex, VALUE value) { out[vertex] = value; });
}
