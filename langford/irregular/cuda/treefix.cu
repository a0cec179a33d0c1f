// Accumulations over trees by scans: in preorder, where a subtree is a range, and along the Euler tour.
//
// Defined by the loader: VERTEX, VALUE.  `order` are the vertices in preorder; where `renamed` is 0 they have these
// numbers already, and nobody reads it.  `size` and `depth` stand in preorder too.  An operator is 0, addition, or
// the second one of operators.cuh.
#include "scan.cuh"

__device__ inline Tiles tiles_at(i64 count, u32 *states, VALUE *tile_sums) {
    return {states, states + 1, tile_sums, tile_sums + (count + TILE - 1) / TILE};
}

template <class Operator>
__device__ inline void scan_row(i64 n, int renamed, const VERTEX *order, const VALUE *values, VALUE *sums,
                                const Tiles &tiles) {
    if (renamed) scan<Operator>(n, tiles, sums, [=](i64 at) { return values[order[at]]; });
    else scan<Operator>(n, tiles, sums, [=](i64 at) { return values[at]; });
}

// The values in preorder, or in any other order.  `states`: a zero and one for each tile; `tile_sums`: two for each.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, 1)
scan_vertices(int op, i64 n, int renamed, const VERTEX *order, const VALUE *values, VALUE *sums, u32 *states,
              VALUE *tile_sums) {
    const Tiles tiles = tiles_at(n, states, tile_sums);
    if (op == 0) scan_row<Addition>(n, renamed, order, values, sums, tiles);
    else scan_row<Second>(n, renamed, order, values, sums, tiles);
}

// The Euler tour, of 2n steps.  Bit k of `entering` says whether step k enters a vertex, and `entered` how many
// steps do so before each word.
template <class Operator>
__device__ inline void scan_steps(i64 steps, const u32 *entering, const VERTEX *entered, int renamed,
                                  const VERTEX *order, int undo, const VERTEX *closing, const VALUE *values,
                                  VALUE *sums, const Tiles &tiles) {
    scan<Operator>(steps, tiles, sums, [=](i64 step) {
        const u32 word = entering[step / 32], bit = 1u << step % 32;
        if (!(word & bit) && !undo) return Operator::neutral();
        const i64 before = entered[step / 32] + __popc(word & (bit - 1));
        if (word & bit) return values[renamed ? i64(order[before]) : before];
        return Operator::inverse(values[closing[step - before]]);
    });
}

// Steps that enter a vertex have its value; steps that leave one the inverse if `undo`, the vertices in the order
// `closing`.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, 1)
scan_tour(int op, i64 steps, const u32 *entering, const VERTEX *entered, int renamed, const VERTEX *order, int undo,
          const VERTEX *closing, const VALUE *values, VALUE *sums, u32 *states, VALUE *tile_sums) {
    const Tiles tiles = tiles_at(steps, states, tile_sums);
    if (op == 0) {
        scan_steps<Addition>(steps, entering, entered, renamed, order, undo, closing, values, sums, tiles);
    } else {
        scan_steps<Second>(steps, entering, entered, renamed, order, undo, closing, values, sums, tiles);
    }
}

__device__ inline VALUE left(int op, VALUE whole, VALUE part) {
    return op == 0 ? Addition::without(whole, part) : Second::without(whole, part);
}

// Of each vertex what its subtree has, from the sums in preorder, or along the tour.
extern "C" __global__ void read_subtrees(int op, i64 n, int by_tour, int renamed, const VERTEX *__restrict__ order,
                                         const VERTEX *__restrict__ size, const VERTEX *__restrict__ depth,
                                         const VALUE *__restrict__ sums, VALUE *__restrict__ out) {
    EACH(at, n) {
        const i64 begin = by_tour ? 2 * at - depth[at] : at;
        const i64 end = by_tour ? begin + 2 * i64(size[at]) - 1 : at + size[at];
        out[renamed ? i64(order[at]) : at] = left(op, sums[end], sums[begin]);
    }
}

// Of each vertex what the path from its root has: along the tour the sum as it is entered, in preorder what has
// been entered without what has been left (`closed`, sums over the vertices as they are left).
extern "C" __global__ void read_paths(int op, i64 n, int by_tour, int renamed, const VERTEX *__restrict__ order,
                                      const VERTEX *__restrict__ depth, const VALUE *__restrict__ sums,
                                      const VALUE *__restrict__ closed, VALUE *__restrict__ out) {
    EACH(at, n) {
        const VALUE path = by_tour ? sums[2 * at - depth[at] + 1] : left(op, sums[at + 1], closed[at - depth[at]]);
        out[renamed ? i64(order[at]) : at] = path;
    }
}
